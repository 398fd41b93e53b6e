//! Which slot of a cluster a key belongs to.

/// Slots of a cluster.
pub const SLOTS: u16 = 16384;

/// The generator polynomial of CRC-16/XMODEM, x¹⁶ + x¹² + x⁵ + 1.
const POLYNOMIAL: u16 = 0x1021;

/// For each high byte of the remainder, what eight steps of the division change.
const TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut high_byte: u16 = 0;
    while high_byte <= 0xFF {
        table[high_byte as usize] = divide_byte(high_byte << 8);
        high_byte += 1;
    }
    table
};

/// The slot of `key`, by the cluster specification of Redis: CRC-16/XMODEM modulo 16384, of the bytes between the first
/// `{` and the next `}` if there are any, of the whole key otherwise.
#[must_use]
pub fn key_slot(key: &[u8]) -> u16 {
    crc16(hash_tag(key).unwrap_or(key)) % SLOTS
}

fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|&byte| byte == b'{')?;
    let after = &key[open + 1..];
    let close = after.iter().position(|&byte| byte == b'}')?;
    (close > 0).then(|| &after[..close])
}

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |remainder, byte| {
        let [high_byte, _] = remainder.to_be_bytes();
        remainder << 8 ^ TABLE[usize::from(high_byte ^ byte)]
    })
}

const fn divide_byte(mut remainder: u16) -> u16 {
    let mut bit = 0;
    while bit < 8 {
        let carry = remainder & 0x8000 != 0;
        remainder <<= 1;
        if carry {
            remainder ^= POLYNOMIAL;
        }
        bit += 1;
    }
    remainder
}

#[cfg(test)]
mod tests {
    use super::{crc16, key_slot};

    #[test]
    fn known_answers() {
        assert_eq!(crc16(b""), 0);
        assert_eq!(crc16(b"123456789"), 0x31C3, "the check value of CRC-16/XMODEM");
        assert_eq!(key_slot(b"123456789"), 0x31C3);
    }

    #[test]
    fn slots_are_those_of_a_server() {
        // From CLUSTER KEYSLOT of Redis 7.0.15.
        assert_eq!(key_slot(b"foo"), 12182);
        assert_eq!(key_slot(b"{user1000}.following"), 3443);
        assert_eq!(key_slot(b"foo{}{bar}"), 8363);
        assert_eq!(key_slot(b"foo{{bar}}zap"), 4015);
    }

    #[test]
    fn a_tag_stands_for_the_key() {
        assert_eq!(key_slot(b"{user1000}.following"), key_slot(b"user1000"));
        assert_eq!(key_slot(b"{user1000}.following"), key_slot(b"{user1000}.followers"));
        assert_eq!(key_slot(b"foo{{bar}}zap"), crc16(b"{bar") % 16384);
        assert_eq!(key_slot(b"foo{bar}{zap}"), key_slot(b"bar"));
    }

    #[test]
    fn without_a_tag_the_whole_key_counts() {
        for key in [b"foo{}{bar}".as_slice(), b"{}", b"{", b"}", b"foo{bar", b"foo}bar{", b"}{"] {
            assert_eq!(key_slot(key), crc16(key) % 16384);
        }
    }
}
