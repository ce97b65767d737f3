//! The status of a file, and its permissions: owner, group, mode, access control lists and other extended attributes.

use std::fs::File;
use std::io;
use std::time::SystemTime;

#[cfg(unix)]
use super::session::Purpose;
use super::session::Session;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileType {
    File,
    Dir,
    Link,
    Other,
}

/// The status of a file. Owner, group, mode and identity are 0 on systems that do not have them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Status {
    pub file_type: FileType,
    pub len: u64,
    pub owner: u32,
    pub group: u32,
    /// The mode without the file type.
    pub mode: u32,
    /// Device and inode.
    pub id: (u64, u64),
    pub(super) modified: Option<SystemTime>,
}

/// The bit that lets users other than the owner and the group write.
const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;

impl Status {
    pub(crate) fn is_file(&self) -> bool {
        self.file_type == FileType::File
    }

    pub(crate) fn is_link(&self) -> bool {
        self.file_type == FileType::Link
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.file_type == FileType::Dir
    }

    /// Returns true for the same file, unchanged in length and in time of modification.
    pub(crate) fn is_unchanged_since(&self, before: &Self) -> bool {
        (self.id, self.len, self.modified) == (before.id, before.len, before.modified)
    }

    /// Returns true if, by modes and groups, all who can write to `self`, apart from its owner, can write to `to`.
    pub(crate) fn lets_nobody_else_write_than(&self, to: &Self) -> bool {
        let more = self.mode & !to.mode;
        let is_of_group = self.group == to.group || self.mode & GROUP_WRITES == 0;
        more & (GROUP_WRITES | OTHERS_WRITE) == 0 && is_of_group
    }
}

pub(super) fn is_mine(found: &Status) -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw() == found.owner;
    #[cfg(not(unix))]
    return found.owner == 0;
}

pub(crate) fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    false
}

/// Gives `to` the owner, group, mode and, on Linux and Android, attributes of `like`, as far as this program may. If it
/// may not set the group, the mode gives the group no permissions, and the session records this. Only root gives a copy
/// to another owner; in place, an owner that cannot be set is an error. Attributes that cannot be copied are a
/// [`Refusal`](crate::write::failure::Refusal).
#[cfg(unix)]
pub(super) fn copy(to: &File, like: &File, session: &Session) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let (now, like_status) = (to.metadata()?, like.metadata()?);
    let is_copy = session.purpose == Purpose::Copy;
    let mut mode = like_status.mode() & 0o7777;
    if now.uid() != like_status.uid() {
        if is_root() || !is_copy {
            fchown(to, Some(like_status.uid()), None)?;
        } else {
            // This clears the bits with which a program would run as another user or group.
            mode &= 0o777;
        }
    }
    if now.gid() != like_status.gid() {
        match fchown(to, None, Some(like_status.gid())) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Session::set(&session.group_was_lost);
                mode &= !0o2070;
            }
            given => given?,
        }
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    attributes::copy(to, like, is_copy)?;
    // Last: with an access control list, the group's bits limit the permissions of everybody named in it.
    if to.metadata()?.mode() & 0o7777 != mode {
        to.set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn copy(to: &File, like: &File, _: &Session) -> io::Result<()> {
    to.set_permissions(like.metadata()?.permissions())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod attributes {
    use std::collections::BTreeMap;
    use std::ffi::{CStr, CString};
    use std::fs::File;
    use std::io;

    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;

    use crate::write::failure::Refusal;

    /// Bytes of a list of attributes, and of a value: Linux's `XATTR_LIST_MAX` and `XATTR_SIZE_MAX`.
    const MOST: usize = 64 << 10;
    /// Access control lists that a new file inherits from its folder.
    const INHERITED: [&CStr; 2] = [c"system.posix_acl_access", c"system.posix_acl_default"];
    /// The label that a policy gives a file by its location. A copy elsewhere keeps that of its own location.
    const OF_PLACE: &CStr = c"security.selinux";

    type Attributes = BTreeMap<CString, Vec<u8>>;

    /// Copies attributes, without [`OF_PLACE`] if `is_copy`. Removes inherited access control lists that `like` lacks.
    pub(super) fn copy(to: &File, like: &File, is_copy: bool) -> io::Result<()> {
        let (wanted, found) = (read(like)?, read(to)?);
        let mut failed = Vec::new();
        let mut note = |name: &CStr, error: Errno| {
            let name = filterblock::quote(name.to_bytes()).to_string();
            failed.push(format!("{name} ({})", io::Error::from(error)));
        };
        for (name, value) in &wanted {
            let is_left = is_copy && **name == *OF_PLACE;
            if found.get(name) != Some(value) && !is_left {
                let set = fsetxattr(to, name, value, XattrFlags::empty());
                set.unwrap_or_else(|error| note(name, error));
            }
        }
        for name in INHERITED.iter().filter(|name| found.contains_key(**name) && !wanted.contains_key(**name))
        {
            fremovexattr(to, *name).unwrap_or_else(|error| note(name, error));
        }
        if failed.is_empty() {
            return Ok(());
        }
        let why = format!("attributes of the old file could not be copied: {}", failed.join(", "));
        Err(io::Error::other(Refusal(why, None)))
    }

    fn read(file: &File) -> io::Result<Attributes> {
        let mut names = vec![0; MOST];
        let len = match flistxattr(file, &mut names) {
            // The file system has no attributes.
            Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Attributes::new()),
            len => len?,
        };
        names.truncate(len);
        let mut value = vec![0; MOST];
        let mut attributes = Attributes::new();
        for name in
            names.split_inclusive(|byte| *byte == 0).filter_map(|name| CStr::from_bytes_with_nul(name).ok())
        {
            match fgetxattr(file, name, &mut value) {
                // The attribute is gone by now.
                Err(Errno::NODATA) => {}
                len => {
                    let len = len?;
                    attributes.insert(name.to_owned(), value.get(..len).unwrap_or_default().to_vec());
                }
            }
        }
        Ok(attributes)
    }
}
