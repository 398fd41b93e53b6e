//! A plain client: what the tests themselves ask a server. Written apart from the code under test.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// One connection.
pub struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    pub fn connect(socket: &str) -> Self {
        let stream = UnixStream::connect(socket).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("an option");
        Self { stream: BufReader::new(stream) }
    }

    /// Sends one command; returns its reply as text: elements line by line, errors after a `-`, nothing for nil.
    pub fn call(&mut self, words: &[&str]) -> String {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.call_bytes(&words)
    }

    /// The same with words of any bytes.
    pub fn call_bytes(&mut self, words: &[&[u8]]) -> String {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            request.extend_from_slice(word);
            request.extend_from_slice(b"\r\n");
        }
        self.stream.get_mut().write_all(&request).expect("it reads");
        let head = self.line();
        self.rest_of_reply(&head)
    }

    /// Sends an inline command; returns the first line of its reply.
    pub fn ask(&mut self, line: &str) -> String {
        self.stream.get_mut().write_all(format!("{line}\r\n").as_bytes()).expect("it reads");
        let head = self.line();
        self.rest_of_reply(&head);
        head
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a reply");
        line.trim_end().to_owned()
    }

    fn rest_of_reply(&mut self, head: &str) -> String {
        let (kind, rest) = head.split_at(1);
        match kind {
            "+" | ":" => rest.to_owned(),
            "-" => head.to_owned(),
            "$" | "*" if rest == "-1" => String::new(),
            "$" => {
                let mut body = vec![0; rest.parse::<usize>().expect("a length") + 2];
                self.stream.read_exact(&mut body).expect("a reply");
                String::from_utf8_lossy(&body[..body.len() - 2]).into_owned()
            }
            "*" => {
                let elements = (0..rest.parse::<usize>().expect("a count")).map(|_| {
                    let head = self.line();
                    self.rest_of_reply(&head)
                });
                elements.collect::<Vec<String>>().join("\n")
            }
            _ => panic!("no reply of RESP2: {head:?}"),
        }
    }
}
