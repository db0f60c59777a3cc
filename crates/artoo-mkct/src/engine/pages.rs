//! A growing list in copy-on-write pages: a clone shares all of them, and a change after the clone copies one.

use std::sync::Arc;

/// A list that clones in constant time; a change copies one page of `PAGE` items if other clones share that page.
#[derive(Debug, Clone)]
pub(crate) struct Pages<T, const PAGE: usize> {
    pages: Arc<Vec<Arc<Vec<T>>>>,
    len: usize,
}

impl<T, const PAGE: usize> Default for Pages<T, PAGE> {
    fn default() -> Self {
        Self { pages: Arc::default(), len: 0 }
    }
}

impl<T: Clone, const PAGE: usize> Pages<T, PAGE> {
    /// Number of items in the list.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The item at a position; `None` beyond the end.
    pub(crate) fn get(&self, position: usize) -> Option<&T> {
        self.pages.get(position / PAGE)?.get(position % PAGE)
    }

    /// The item at a position, to be changed; copies its page if a clone shares it.
    pub(crate) fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        let page = Arc::make_mut(&mut self.pages).get_mut(position / PAGE)?;
        Arc::make_mut(page).get_mut(position % PAGE)
    }

    /// The last item; `None` if the list is empty.
    pub(crate) fn last(&self) -> Option<&T> {
        self.pages.last()?.last()
    }

    /// Appends an item; copies the last page if a clone shares it.
    pub(crate) fn push(&mut self, item: T) {
        let pages = Arc::make_mut(&mut self.pages);
        match pages.last_mut() {
            Some(page) if page.len() < PAGE => Arc::make_mut(page).push(item),
            Some(_) | None => pages.push(Arc::new(vec![item])),
        }
        self.len += 1;
    }

    /// All items in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.pages.iter().flat_map(|page| page.iter())
    }
}

impl<T: Clone, const PAGE: usize> FromIterator<T> for Pages<T, PAGE> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::default();
        items.into_iter().for_each(|item| list.push(item));
        list
    }
}
