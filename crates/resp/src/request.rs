//! One request whose arguments are known.

/// Appends the RESP encoding of one request to `output`.
pub fn write_request(arguments: &[&[u8]], output: &mut Vec<u8>) {
    write_header(b'*', arguments.len(), output);
    for argument in arguments {
        write_header(b'$', argument.len(), output);
        output.extend_from_slice(argument);
        output.extend_from_slice(b"\r\n");
    }
}

/// Appends a marker, a count in decimal and the end of line.
pub(crate) fn write_header(marker: u8, count: usize, output: &mut Vec<u8>) {
    output.push(marker);
    output.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
    output.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::write_request;

    #[test]
    fn arguments_are_bulk_strings() {
        let mut output = Vec::new();
        write_request(&[b"AUTH", b"", b"\r\n"], &mut output);
        assert_eq!(output, b"*3\r\n$4\r\nAUTH\r\n$0\r\n\r\n$2\r\n\r\n\r\n");
    }
}
