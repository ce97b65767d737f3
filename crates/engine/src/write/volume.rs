//! The free space of the file system that a folder is on, and whether other machines share it.

use std::io;

use super::system::Handle;
use crate::text::{count, size};

/// The free space on a file system for users other than root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FreeSpace {
    pub bytes: u64,
    /// `None`: the file system reports no limit on the number of files.
    pub files: Option<u64>,
}

/// Free bytes required besides the tables: for the MANIFEST, the journal, and filters larger than the old ones.
const SPARE: u64 = 1 << 20;
/// The number of files besides the new tables: the MANIFEST, CURRENT, the journal, and the undo folder with its record.
const SPARE_FILES: u64 = 5;

impl FreeSpace {
    /// The message if there is no room for tables of this many bytes, in this many files.
    pub(super) fn lacks(self, bytes: u64, files: u64) -> Option<String> {
        let (bytes, files) = (bytes.saturating_add(SPARE), files.saturating_add(SPARE_FILES));
        if self.bytes < bytes {
            return Some(format!("needs {} free, has {}", size(bytes), size(self.bytes)));
        }
        let found = self.files.filter(|found| *found < files)?;
        Some(format!("needs room for {} files, has {}", count(files), count(found)))
    }
}

/// The free space on the file system of `folder`; `None`: the system does not report it.
#[cfg(unix)]
pub(super) fn room(folder: &Handle) -> io::Result<Option<FreeSpace>> {
    let stat = rustix::fs::fstatvfs(folder)?;
    let files = (stat.f_files > 0).then_some(stat.f_favail);
    Ok(Some(FreeSpace { bytes: stat.f_bavail.saturating_mul(stat.f_frsize), files }))
}

#[cfg(not(unix))]
pub(super) fn room(_: &Handle) -> io::Result<Option<FreeSpace>> {
    Ok(None)
}

/// File systems on which other machines, or this one's host, may hold locks not seen here, by `f_type` (`statfs(2)`).
#[cfg(any(target_os = "linux", target_os = "android"))]
const SHARED: [(&str, u32); 13] = [
    ("NFS", 0x6969),
    ("FUSE or virtiofs", 0x6573_5546),
    ("9p", 0x0102_1997),
    ("CIFS", 0xff53_4d42),
    ("SMB2", 0xfe53_4d42),
    ("SMB", 0x517b),
    ("AFS", 0x5346_414f),
    ("AFS", 0x6b41_4653),
    ("Ceph", 0x00c3_6400),
    ("Coda", 0x7375_7245),
    ("GFS2", 0x0116_1970),
    ("OCFS2", 0x7461_636f),
    ("VirtualBox's shared folders", 0x786f_4256),
];

/// The name of the file system of `folder`, if its locks may not hold for all programs that have files open on it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn shared_file_system(folder: &Handle) -> io::Result<Option<&'static str>> {
    // The type is a number of 32 bits, which is signed on some platforms.
    let found = rustix::fs::fstatfs(folder)?.f_type as u32;
    Ok(SHARED.iter().find(|&&(_, f_type)| f_type == found).map(|&(name, _)| name))
}

#[cfg(target_vendor = "apple")]
pub(super) fn shared_file_system(folder: &Handle) -> io::Result<Option<&'static str>> {
    /// `MNT_LOCAL` of `statfs(2)`.
    const LOCAL: u32 = 0x1000;
    let flags = rustix::fs::fstatfs(folder)?.f_flags;
    Ok((flags & LOCAL == 0).then_some("a network"))
}

/// Nothing is known about the locks of other systems, so they are not relied on.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn shared_file_system(_: &Handle) -> io::Result<Option<&'static str>> {
    Ok(Some("a system that this program does not know the locks of"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_has_to_be_room_for_bytes_and_for_files() {
        use super::{FreeSpace, SPARE};
        let room = |bytes, files| FreeSpace { bytes: SPARE + bytes, files }.lacks(1024, 7);
        assert_eq!(room(1024, Some(12)), None);
        assert_eq!(room(1024, None), None);
        assert_eq!(room(0, None).as_deref(), Some("needs 1.0 MiB free, has 1 MiB"));
        assert_eq!(room(1024, Some(11)).as_deref(), Some("needs room for 12 files, has 11"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn there_is_some_room_and_the_types_are_told_apart() {
        use super::*;
        let open = |path| Handle::from(std::fs::File::open(path).unwrap());
        assert!(room(&open("/")).unwrap().is_some_and(|room| room.bytes > 0));
        assert_eq!(shared_file_system(&open("/proc")).unwrap(), None);
        // `FUSE_SUPER_MAGIC` is 0x65735546.
        assert_eq!(u32::from_be_bytes(*b"esUF"), 0x6573_5546);
    }
}
