//! Writes small Parquet files: the results of a task of a sweep.
//!
//! One row group, one page per column, without compression. The general writer of the crate `parquet` needs 150 µs for
//! the forty columns of a task; this one needs 10 µs. That crate (`gather.rs`) and, in tests, polars read the files.
//! Sources: the Parquet format, `parquet.thrift`, and Thrift's compact protocol.

use crate::tables::cells::{Cells, Column};

/// Values of `parquet.thrift`'s enumerations.
mod format {
    pub(crate) const BOOLEAN: i32 = 0;
    pub(crate) const INT64: i32 = 2;
    pub(crate) const DOUBLE: i32 = 5;
    pub(crate) const BYTE_ARRAY: i32 = 6;
    pub(crate) const OPTIONAL: i32 = 1;
    pub(crate) const UTF8: i32 = 0;
    pub(crate) const DATA_PAGE: i32 = 0;
    pub(crate) const PLAIN: i32 = 0;
    pub(crate) const RLE: i32 = 3;
    pub(crate) const UNCOMPRESSED: i32 = 0;
}

const MAGIC: &[u8; 4] = b"PAR1";

/// Offset of a column's page, and its bytes with its header.
struct Chunk {
    offset: usize,
    bytes: usize,
}

/// A file of columns with this number of rows; missing rows at the end of a column are null.
///
/// # Errors
///
/// A column of 2 GiB or more, which a page cannot hold.
pub(crate) fn file(
    columns: &[Column],
    rows: usize,
    metadata: &[(String, String)],
) -> Result<Vec<u8>, &'static str> {
    const TOO_LARGE: &str = "a column is larger than 2 GiB";
    let mut file = MAGIC.to_vec();
    let mut chunks = Vec::with_capacity(columns.len());
    let mut page = Vec::new();
    for column in columns {
        page.clear();
        levels(&mut page, &column.present, rows);
        values(&mut page, column);
        let (size, count) = (page.len().try_into(), rows.try_into());
        let (Ok(size), Ok(count)) = (size, count) else { return Err(TOO_LARGE) };
        let offset = file.len();
        page_header(&mut file, size, count);
        file.extend_from_slice(&page);
        chunks.push(Chunk { offset, bytes: file.len() - offset });
    }
    let begin = file.len();
    footer(&mut file, columns, &chunks, rows, metadata);
    let length = u32::try_from(file.len() - begin).map_err(|_| TOO_LARGE)?;
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(MAGIC);
    Ok(file)
}

/// The rows with a value: run lengths after their size in bytes (encoding RLE, one bit).
fn levels(page: &mut Vec<u8>, present: &[bool], rows: usize) {
    let begin = page.len();
    page.extend_from_slice(&[0; 4]);
    let mut at = 0;
    while at < rows {
        let level = present.get(at).copied().unwrap_or(false);
        let until =
            (at..rows).find(|&row| present.get(row).copied().unwrap_or(false) != level).unwrap_or(rows);
        varint(page, (until - at) as u64 * 2);
        page.push(u8::from(level));
        at = until;
    }
    let size = (page.len() - begin - 4) as u32;
    page[begin..begin + 4].copy_from_slice(&size.to_le_bytes());
}

/// The values without nulls (encoding PLAIN).
fn values(page: &mut Vec<u8>, column: &Column) {
    fn there<'a, T>(values: &'a [T], present: &'a [bool]) -> impl Iterator<Item = &'a T> {
        values.iter().zip(present).filter_map(|(value, &present)| present.then_some(value))
    }
    let present = &column.present;
    match &column.cells {
        Cells::Integer(values) => there(values, present).for_each(|value| page.extend(value.to_le_bytes())),
        Cells::Number(values) => there(values, present).for_each(|value| page.extend(value.to_le_bytes())),
        Cells::Truth(values) => {
            let bits: Vec<bool> = there(values, present).copied().collect();
            let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
            page.extend(bits.chunks(8).map(byte));
        }
        Cells::Text(values) => {
            for text in there(values, present) {
                page.extend((text.len() as u32).to_le_bytes());
                page.extend_from_slice(text.as_bytes());
            }
        }
    }
}

fn page_header(file: &mut Vec<u8>, size: i32, rows: i32) {
    Thrift::new(file).fields(|page| {
        page.int(1, format::DATA_PAGE);
        page.int(2, size);
        page.int(3, size);
        page.nested(5, |data| {
            data.int(1, rows);
            data.int(2, format::PLAIN);
            data.int(3, format::RLE);
            data.int(4, format::RLE);
        });
    });
}

/// `FileMetaData`.
fn footer(
    file: &mut Vec<u8>,
    columns: &[Column],
    chunks: &[Chunk],
    rows: usize,
    metadata: &[(String, String)],
) {
    Thrift::new(file).fields(|whole| {
        whole.int(1, 1);
        whole.list(2, kind::STRUCT, columns.len() + 1);
        whole.fields(|root| {
            root.text(4, "netspurt");
            root.int(5, columns.len() as i32);
        });
        columns.iter().for_each(|column| schema_element(whole, column));
        whole.long(3, rows);
        whole.list(4, kind::STRUCT, 1);
        whole.fields(|group| {
            group.list(1, kind::STRUCT, columns.len());
            for (column, chunk) in columns.iter().zip(chunks) {
                column_chunk(group, column, chunk, rows);
            }
            group.long(2, chunks.iter().map(|chunk| chunk.bytes).sum());
            group.long(3, rows);
        });
        whole.list(5, kind::STRUCT, metadata.len());
        for (key, value) in metadata {
            whole.fields(|pair| {
                pair.text(1, key);
                pair.text(2, value);
            });
        }
        whole.text(6, concat!("netspurt ", env!("CARGO_PKG_VERSION")));
    });
}

/// A `SchemaElement`.
fn schema_element(thrift: &mut Thrift<'_>, column: &Column) {
    thrift.fields(|element| {
        element.int(1, physical(&column.cells));
        element.int(3, format::OPTIONAL);
        element.text(4, &column.name);
        if matches!(column.cells, Cells::Text(_)) {
            element.int(6, format::UTF8);
            element.nested(10, |logical| logical.nested(1, |_string| {}));
        }
    });
}

/// A `ColumnChunk` with its `ColumnMetaData`.
fn column_chunk(thrift: &mut Thrift<'_>, column: &Column, chunk: &Chunk, rows: usize) {
    thrift.fields(|place| {
        place.long(2, 0);
        place.nested(3, |about| {
            about.int(1, physical(&column.cells));
            about.list(2, kind::I32, 2);
            about.bare_int(format::PLAIN);
            about.bare_int(format::RLE);
            about.list(3, kind::BINARY, 1);
            about.bare_text(&column.name);
            about.int(4, format::UNCOMPRESSED);
            about.long(5, rows);
            about.long(6, chunk.bytes);
            about.long(7, chunk.bytes);
            about.long(9, chunk.offset);
        });
    });
}

const fn physical(cells: &Cells) -> i32 {
    match cells {
        Cells::Integer(_) => format::INT64,
        Cells::Number(_) => format::DOUBLE,
        Cells::Truth(_) => format::BOOLEAN,
        Cells::Text(_) => format::BYTE_ARRAY,
    }
}

/// Types of Thrift's compact protocol.
mod kind {
    pub(crate) const I32: u8 = 5;
    pub(crate) const I64: u8 = 6;
    pub(crate) const BINARY: u8 = 8;
    pub(crate) const LIST: u8 = 9;
    pub(crate) const STRUCT: u8 = 12;
}

/// Writes structs in Thrift's compact protocol. Field numbers must ascend in steps of less than 16.
struct Thrift<'a> {
    bytes: &'a mut Vec<u8>,
    /// The number of the last field.
    last: u8,
}

impl<'a> Thrift<'a> {
    const fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, last: 0 }
    }

    fn head(&mut self, field: u8, kind: u8) {
        self.bytes.push((field - self.last) << 4 | kind);
        self.last = field;
    }

    fn int(&mut self, field: u8, value: i32) {
        self.head(field, kind::I32);
        self.bare_int(value);
    }

    fn long(&mut self, field: u8, value: usize) {
        self.head(field, kind::I64);
        varint(self.bytes, value as u64 * 2);
    }

    fn text(&mut self, field: u8, text: &str) {
        self.head(field, kind::BINARY);
        self.bare_text(text);
    }

    /// Starts a list, whose elements follow.
    fn list(&mut self, field: u8, kind: u8, length: usize) {
        self.head(field, kind::LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(self.bytes, length as u64);
        }
    }

    /// A struct as a field.
    fn nested(&mut self, field: u8, fill: impl FnOnce(&mut Thrift<'_>)) {
        self.head(field, kind::STRUCT);
        self.fields(fill);
    }

    /// A struct: the whole, or an element of a list.
    fn fields(&mut self, fill: impl FnOnce(&mut Thrift<'_>)) {
        fill(&mut Thrift { bytes: self.bytes, last: 0 });
        self.bytes.push(0);
    }

    /// A non-negative number in zigzag encoding.
    fn bare_int(&mut self, value: i32) {
        varint(self.bytes, u64::from(value.unsigned_abs()) * 2);
    }

    fn bare_text(&mut self, text: &str) {
        varint(self.bytes, text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

/// Seven bits per byte, the lowest first.
fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
