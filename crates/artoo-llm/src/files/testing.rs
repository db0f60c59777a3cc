//! Builds small GGUF model files for tests.

/// Builder of small GGUF model files for tests, from metadata entries and tensors.
#[derive(Default)]
pub(crate) struct Head {
    entries: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
    /// Offset in the data section at which the next tensor's data begins.
    data: usize,
    /// Offset in the data section at which the last tensor's data ends.
    end: usize,
}

/// Encodes a text as in a GGUF file: its length, then its bytes.
fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

impl Head {
    /// Starts a GGUF file without metadata entries and tensors.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a metadata entry with this type number.
    fn entry(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.entries.push([&text(key), kind.to_le_bytes().as_slice(), value].concat());
        self
    }

    /// Adds a metadata entry with a text.
    pub(crate) fn text(self, key: &str, value: &str) -> Self {
        self.entry(key, 8, &text(value))
    }

    /// Adds a metadata entry with a 32-bit number.
    pub(crate) fn number(self, key: &str, value: u32) -> Self {
        self.entry(key, 4, &value.to_le_bytes())
    }

    /// Adds a metadata entry with a list of texts.
    pub(crate) fn texts(self, key: &str, values: &[&str]) -> Self {
        let items: Vec<u8> = values.iter().flat_map(|value| text(value)).collect();
        let head = [8_u32.to_le_bytes().as_slice(), &(values.len() as u64).to_le_bytes()].concat();
        self.entry(key, 9, &[head, items].concat())
    }

    /// Adds a tensor of type number `kind`; its data is zeros, at most 4 MiB.
    pub(crate) fn tensor(mut self, name: &str, dimensions: &[u64], kind: u32) -> Self {
        let mut bytes = text(name);
        bytes.extend(u32::try_from(dimensions.len()).unwrap().to_le_bytes());
        bytes.extend(dimensions.iter().flat_map(|size| size.to_le_bytes()));
        bytes.extend(kind.to_le_bytes());
        bytes.extend((self.data as u64).to_le_bytes());
        self.tensors.push(bytes);
        let elements: u64 = dimensions.iter().copied().fold(1, u64::saturating_mul);
        let size = match kind {
            0 => elements.saturating_mul(4),
            1 => elements.saturating_mul(2),
            _ => elements.div_ceil(32) * 34,
        };
        self.end = self.data + usize::try_from(size.min(1 << 22)).unwrap();
        self.data = self.end.next_multiple_of(32);
        self
    }

    /// The bytes of the file's header: metadata and list of tensors, without the tensors' data.
    pub(crate) fn head(&self) -> Vec<u8> {
        let counts = [(self.tensors.len() as u64).to_le_bytes(), (self.entries.len() as u64).to_le_bytes()].concat();
        let start = [b"GGUF".as_slice(), &3_u32.to_le_bytes(), &counts].concat();
        [start, self.entries.concat(), self.tensors.concat()].concat()
    }

    /// The bytes of the whole file, exactly as long as the data of its last tensor requires.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        let data = bytes.len().next_multiple_of(32);
        bytes.resize(data + self.end, 0);
        bytes
    }
}
