//! The shapes of questions of the kind `piped`: their input, their wording in English and the programs that answer them.

/// The input of a question of the kind `piped`: the lines or files of a query, or a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// The lines of a query.
    Lines,
    /// The files of a query, in their order.
    Files,
    /// Everything below the folder that a query searches; the programs read the folder themselves.
    Folder,
    /// The number of bytes that a query about the machine's memory or disks gives.
    Room,
}

/// A shape of question of the kind `piped`: its name, its input, its wording in English, and the programs that compute
/// it.
///
/// In the reading and the programs `{of}` is the query, `{n}` and `{m}` are numbers, `{text}` is a text; the others
/// stand for what [`super::values`] says.
pub(super) type Shape = (&'static str, From, &'static str, &'static str);

/// The programs that compare two folders by the sum of a figure of their files: 1 to count them, or their bytes.
const MORE: &str = "find -P {root} {raw} -name .?* -prune -o -type f -printf '{figure} %H\\n' | V awk '{k=substr($0,length($1)+2);s[k]+=$1} END{t=ENVIRON[\"V\"];for(k in s)if(k!=t)o=k;a=o!=\"\"?s[o]:0;b=t in s?s[t]:0;print (a>b?\"yes\":\"no\");if(o!=\"\")printf \"%.0f\\t%s\\n\",a,o;if(t in s)printf \"%.0f\\t%s\\n\",b,t}'";

/// All shapes of question that are computed from the answer to another query.
const SHAPES: [Shape; 64] = [
    ("every", From::Lines, "lines whose number is a multiple of {n} of the {of}", "awk 'NR%{n}==0'"),
    ("odd", From::Lines, "lines with an odd number of the {of}", "awk 'NR%2==1'"),
    ("starts", From::Lines, "first {n} characters of each of the {of}", "U sed -E -e s/^(.{{n}}).*/\\1/"),
    ("ends", From::Lines, "last {n} characters of each of the {of}", "U sed -E -e s/^.*(.{{n}})$/\\1/"),
    ("mirrored", From::Lines, "{of}, each with its characters in reverse order", "U rev"),
    ("led", From::Lines, "{of}, each after {text}", "V awk '{print ENVIRON[\"V\"] $0}'"),
    ("trailed", From::Lines, "{of}, each before {text}", "V awk '{print $0 ENVIRON[\"V\"]}'"),
    ("but_last", From::Lines, "{of}, but the last {n}", "head -n -{n}"),
    (
        "around",
        From::Lines,
        "{of}, from {n} before to {n} after each that contains {text}",
        "grep -a -F --no-group-separator -C {n} -e {raw}",
    ),
    (
        "after",
        From::Lines,
        "{of}, the {n} after each that contains {text}",
        "V awk 'NR<=e; index($0,ENVIRON[\"V\"]){e=NR+{n}}'",
    ),
    (
        "before",
        From::Lines,
        "{of}, the {n} before each that contains {text}",
        "V awk '{l[NR]=$0} index($0,ENVIRON[\"V\"]){for(i=NR-{n};i<NR;i++)if(i>0&&!s[i]++)print l[i]}'",
    ),
    ("long", From::Lines, "{of} with more than {n} words", "awk 'NF>{n}'"),
    ("short", From::Lines, "{of} with fewer than {n} words", "awk 'NF<{n}'"),
    ("words", From::Lines, "number of words of each of the {of}", "awk '{print NF \"\\t\" $0}'"),
    (
        "widest",
        From::Lines,
        "length in characters of the longest of the {of}",
        "U sed -e s/./x/g | awk 'length>m{m=length} END{print m+0}'",
    ),
    ("over", From::Lines, "{of} that are numbers above {n}", "awk '{number}&&$1>{n}'"),
    ("under", From::Lines, "{of} that are numbers below {n}", "awk '{number}&&$1<{n}'"),
    ("within", From::Lines, "{of} that are numbers between {n} and {m}", "awk '{number}&&$1>={n}&&$1<={m}'"),
    ("largest", From::Lines, "{n} largest numbers of the {of}", "awk '{number}' | sort -n -r | head -n {n}"),
    ("smallest", From::Lines, "{n} smallest numbers of the {of}", "awk '{number}' | sort -n | head -n {n}"),
    (
        "median",
        From::Lines,
        "median of the numbers of the {of}",
        "grep -a -x -E -e [0-9]+ | sort -n | awk '{v[NR]=$1} END{s=v[int((NR+1)/2)]+v[int(NR/2)+1]; print s%2?int(s/2)\".5\":s/2}'",
    ),
    (
        "sorted",
        From::Lines,
        "answer to whether the {of} are sorted",
        "awk 'NR>1&&($0 \"\")<(p \"\"){b=1} {p=$0} END{print b?\"no\":\"yes\"}'",
    ),
    ("digits", From::Lines, "numbers with {n} digits in the {of}", "grep -a -o -E -e [0-9]+ | awk 'length==0+{n}'"),
    ("urls", From::Lines, "web addresses in the {of}", "grep -a -o -E -e {pattern} | sed -e 's/[.:?]*$//'"),
    ("emails", From::Lines, "e-mail addresses in the {of}", "grep -a -o -E -e {pattern} | sed -e 's/[.:?]*$//'"),
    ("addresses", From::Lines, "IP addresses in the {of}", "grep -a -o -E -e {pattern}"),
    ("facts", From::Files, "{facts} and path of each of the {of}", "xargs -0 -r stat -c {formats} --"),
    (
        "digest",
        From::Files,
        "MD5 of the MD5 sums of the {of}",
        "xargs -0 -r md5sum -z -- | tr \\0 \\n | cut -c 1-32 | md5sum | cut -c 1-32",
    ),
    (
        "digest_sorted",
        From::Files,
        "MD5 of the sorted MD5 sums of the {of}",
        "xargs -0 -r md5sum -z -- | tr \\0 \\n | cut -c 1-32 | sort | md5sum | cut -c 1-32",
    ),
    ("hashes", From::Files, "MD5 and path of each of the {of}, sorted", "xargs -0 -r md5sum -z -- | tr \\0 \\n | sort"),
    (
        "same",
        From::Files,
        "{of} whose SHA-256 is {text}",
        "xargs -0 -r sha256sum -z -- | tr \\0 \\n | V awk 'substr($0,1,64)==ENVIRON[\"V\"]{print substr($0,67)}'",
    ),
    (
        "each",
        From::Files,
        "number of lines that contain {text} of each of the {of}",
        "xargs -0 -r grep -a -c -H -F -e {raw} -- | cat",
    ),
    (
        "counts",
        From::Files,
        "number of lines of each of the {of}, largest first",
        "xargs -0 -r grep -a -c -H -e '' -- | awk '{n=$0; sub(/.*:/,\"\",n); sub(/:[0-9]+$/,\"\"); print n \"\\t\" $0}' | sort -k 1,1nr -k 2",
    ),
    ("most", From::Files, "files with the most lines of the {of}", "xargs -0 -r grep -a -c -H -e '' -- | awk '{best}'"),
    (
        "fewest",
        From::Files,
        "files with the fewest lines of the {of}",
        "xargs -0 -r grep -a -c -H -e '' -- | awk '{best}'",
    ),
    (
        "longer",
        From::Files,
        "files with more than {n} lines of the {of}",
        "xargs -0 -r grep -a -c -H -e '' -- | awk '{n=$0; sub(/.*:/,\"\",n); sub(/:[0-9]+$/,\"\")} n+0>{n}'",
    ),
    (
        "shorter",
        From::Files,
        "files with fewer than {n} lines of the {of}",
        "xargs -0 -r grep -a -c -H -e '' -- | awk '{n=$0; sub(/.*:/,\"\",n); sub(/:[0-9]+$/,\"\")} n+0<{n}'",
    ),
    (
        "unit",
        From::Files,
        "total size in {unit} of the {of}",
        "xargs -0 -r stat -c %s -- | awk '{s+=$1} END{printf \"%.2f {unit}\\n\",s/{bytes}}'",
    ),
    ("room", From::Room, "{of} in {unit}", "awk '{printf \"%.2f {unit}\\n\",$1/{bytes}}'"),
    ("near", From::Files, "{of}, at most {n} levels deep", "tr \\0 \\n | awk -F / 'NF<={deepest}'"),
    (
        "levels",
        From::Folder,
        "{of}, {n} levels deep",
        "find -H {root} -mindepth 1 -maxdepth {n} -name .* -prune -o -print | sort",
    ),
    (
        "level_folders",
        From::Folder,
        "folders among the {of}, {n} levels deep",
        "find -H {root} -mindepth 1 -maxdepth {n} -name .* -prune -o -type d -print | sort",
    ),
    (
        "per_folder",
        From::Folder,
        "number of files of each folder directly there, of the {of}",
        "find -H {root} -mindepth 1 -name .* -prune -o ( -type d -o -type f ) -printf '%y %P\\n' | awk '{t=substr($0,1,1); p=substr($0,3); i=index(p,\"/\"); k=i?substr(p,1,i-1):p; if(t==\"f\"&&i)c[k]++; else if(t==\"d\"&&!i)c[k]+=0} END{for(k in c)print c[k] \"\\t\" k}' | sort -k 2",
    ),
    (
        "kind",
        From::Folder,
        "kind of the {of}",
        "stat -L -c %F -- {root} | sed -e 's/^regular.*/file/; s/^directory/folder/'",
    ),
    ("differ", From::Folder, "what differs between the {of} and those in {text}", "diff -r -q -- {root} {raw} | sort"),
    (
        "broken",
        From::Folder,
        "broken symbolic links among the {of}",
        "find -P {root} -name .?* -prune -o -xtype l -print | sort",
    ),
    (
        "broken_any",
        From::Folder,
        "answer to whether there is a broken symbolic link among the {of}",
        "find -P {root} -name .?* -prune -o -xtype l -print | awk 'END{print NR?\"yes\":\"no\"}'",
    ),
    (
        "onward",
        From::Lines,
        "{of}, from each that contains {text} to {n} after it",
        "grep -a -F --no-group-separator -A {n} -e {raw}",
    ),
    (
        "once",
        From::Lines,
        "{of} that stand there only once",
        "awk '{l[NR]=$0;c[$0]++} END{for(i=1;i<=NR;i++)if(c[l[i]]==1)print l[i]}'",
    ),
    ("changed", From::Files, "time of the last change of the {of}", "xargs -0 -r stat -c %y -- | cut -c 1-19"),
    (
        "more",
        From::Files,
        "answer to whether there are more than {n} {of}, and their number",
        "tr \\0 \\n | awk 'END{print (NR>{n}?\"yes\":\"no\") \", \" NR}'",
    ),
    (
        "least",
        From::Files,
        "answer to whether there are at least {n} {of}, and their number",
        "tr \\0 \\n | awk 'END{print (NR>={n}?\"yes\":\"no\") \", \" NR}'",
    ),
    (
        "fewer",
        From::Files,
        "answer to whether there are fewer than {n} {of}, and their number",
        "tr \\0 \\n | awk 'END{print (NR<{n}?\"yes\":\"no\") \", \" NR}'",
    ),
    (
        "links",
        From::Folder,
        "symbolic links among the {of} and where they point",
        "find -P {root} -name .?* -prune -o -type l -printf '%p -> %l\\n' | sort",
    ),
    ("target", From::Folder, "target of the symbolic link {of}", "find -P {root} -maxdepth 0 -type l -printf '%l\\n'"),
    (
        "others",
        From::Files,
        "{of} with the content of {other}, whose SHA-256 is {sum}, without it",
        "xargs -0 -r sha256sum -z -- | tr \\0 \\n | V awk '{p=substr($0,67)} substr($0,1,64)==substr(ENVIRON[\"V\"],1,64)&&p!=substr(ENVIRON[\"V\"],66){print p}'",
    ),
    (
        "copies",
        From::Folder,
        "files among the {of} that are equal to a file in {text}",
        "find -P {raw} {root} -name .?* -prune -o -type f -size +0 -exec sha256sum -z {} + | tr \\0 \\n | V awk 'index(substr($0,67),ENVIRON[\"V\"] \"/\")==1{s[substr($0,1,64)]=1;next} substr($0,1,64) in s{print substr($0,67)}' | sort",
    ),
    (
        "twins",
        From::Folder,
        "files that differ though they have the same name among the {of} and in {text}",
        "diff -r -q -- {root} {raw} | grep -a -e ' differ$' | sort",
    ),
    (
        "fuller",
        From::Folder,
        "folder with more files, and how many, of two: the {of} or those in {text}",
        "find -P {root} {raw} -name .?* -prune -o -type f -printf '%H\\n' | awk '{n=++c[$0]; if(n>m)m=n} END{for(k in c)if(c[k]==m)print m \"\\t\" k}' | sort",
    ),
    (
        "larger",
        From::Folder,
        "answer to whether the {of} take more space than those in {text}, and how many bytes",
        MORE,
    ),
    (
        "richer",
        From::Folder,
        "answer to whether there are more files among the {of} than in {text}, and how many",
        MORE,
    ),
    (
        "some",
        From::Files,
        "answer to whether there are any {of}, and which",
        "tr \\0 \\n | awk 'NR==1{print \"yes\"} {print} END{if(!NR)print \"no\"}'",
    ),
    ("none", From::Lines, "answer to whether there are no {of}", "awk 'END{print NR?\"no\":\"yes\"}'"),
    ("no_files", From::Files, "answer to whether there are no {of}", "tr \\0 \\n | awk 'END{print NR?\"no\":\"yes\"}'"),
];

/// The row of [`SHAPES`] with this name.
pub(super) fn shape(name: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|(known, ..)| *known == name)
}

#[cfg(test)]
mod tests {
    use artoo_proto::Timestamp;

    use super::{From, SHAPES};
    use crate::algebra::{Known, Query};
    use crate::eval::{EvalError, evaluate};
    use crate::testing::MemoryFileSystem;

    /// The answer of a shape without a second computation is always withheld.
    #[test]
    fn every_shape_of_lines_is_evaluated() {
        let mut fs = MemoryFileSystem::default();
        fs.add_file("/a.txt", "1\n2\n", Timestamp::default());
        let of = serde_json::to_string(&Query::TextFile { path: "/a.txt".to_owned() }).unwrap();
        for (name, ..) in SHAPES.into_iter().filter(|(_, from, ..)| *from == From::Lines) {
            let given = [("of", &*of), ("shape", name), ("n", "1"), ("m", "2"), ("text", "1")];
            let query = Known::of("piped", given.map(|(name, value)| (name, Some(value.to_owned()))));
            assert_ne!(evaluate(&query, &fs), Err(EvalError::Meaningless), "{name}");
        }
    }
}
