// Loaded into a program by LD_PRELOAD: records what it does to the files below a folder, so that every state that a
// crash could leave can be made from it, and makes chosen calls fail. Linux with glibc only.
//
//   FILTERBLOCK_RECORD_ROOT    the folder, as an absolute path without symbolic links; without it nothing is done
//   FILTERBLOCK_RECORD_LOG     the file that the records are appended to; src/crash/log.rs reads it
//   FILTERBLOCK_RECORD_FAULT   "KIND FIRST COUNT ERRNO": of the calls of a kind, numbered from 1, COUNT fail from FIRST on
//   FILTERBLOCK_RECORD_SIGNAL  "N SIGNAL": the program gets this signal once it has done N operations
//   FILTERBLOCK_RECORD_NO_FOLDER_SYNC  if set, a sync of a folder returns at once
//   FILTERBLOCK_RECORD_EXCHANGE  "N UID": before the N-th call that resolves a name below the folder, somebody else
//     renames FILTERBLOCK_RECORD_EXCHANGED (a pattern of glob) to its name with ".away" added, and puts a symbolic
//     link to FILTERBLOCK_RECORD_VICTIM in its place, with the rights of that user, or with the program's if UID is -1
//
// Calls are made one at a time, so that the order of the records is that of the operations.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { kCreate = 1, kWrite, kTruncate, kSync, kSyncFolder, kRename, kLink, kUnlink, kMakeFolder, kRemoveFolder, kOpen, kFault, kSetMode, kExchange, kKinds };

// The C library's function of this name, which a function below replaces.
#define REAL(name)                                                                  \
  ({                                                                                \
    static __typeof__(&name) real;                                                  \
    if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);            \
    real;                                                                           \
  })

// The system calls of this file itself, which must not come back to it.
#define raw(...) (REAL(syscall)(__VA_ARGS__))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_len;
static int log_fd = -1;
static unsigned long calls[kKinds];
static unsigned long fault_kind, fault_first, fault_count;
static int fault_errno;
static unsigned long operations, signal_after;
static int signal_number;
static int skip_folder_sync;
static unsigned long names, exchange_at;
static long exchange_uid;
static const char *exchanged, *victim;

static void die(const char* what) {
  dprintf(2, "preload: %s: %s\n", what, strerror(errno));
  _exit(99);
}

__attribute__((constructor)) static void start(void) {
  const char* folder = getenv("FILTERBLOCK_RECORD_ROOT");
  const char* file = getenv("FILTERBLOCK_RECORD_LOG");
  if (folder == NULL || file == NULL) return;
  const int fd = raw(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) die(file);
  // Out of the way of programs that expect low numbers.
  log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900);
  if (log_fd < 0) log_fd = fd;
  else close(fd);
  root_len = strlen(folder);
  if (root_len >= sizeof root) die("FILTERBLOCK_RECORD_ROOT");
  strcpy(root, folder);
  const char* fault = getenv("FILTERBLOCK_RECORD_FAULT");
  if (fault != NULL && sscanf(fault, "%lu %lu %lu %d", &fault_kind, &fault_first, &fault_count, &fault_errno) != 4)
    die("FILTERBLOCK_RECORD_FAULT");
  const char* sent = getenv("FILTERBLOCK_RECORD_SIGNAL");
  if (sent != NULL && sscanf(sent, "%lu %d", &signal_after, &signal_number) != 2) die("FILTERBLOCK_RECORD_SIGNAL");
  skip_folder_sync = getenv("FILTERBLOCK_RECORD_NO_FOLDER_SYNC") != NULL;
  const char* exchange = getenv("FILTERBLOCK_RECORD_EXCHANGE");
  exchanged = getenv("FILTERBLOCK_RECORD_EXCHANGED");
  victim = getenv("FILTERBLOCK_RECORD_VICTIM");
  if (exchange != NULL && (sscanf(exchange, "%lu %ld", &exchange_at, &exchange_uid) != 2 || exchanged == NULL || victim == NULL))
    die("FILTERBLOCK_RECORD_EXCHANGE");
}

static int below_root(const char* path) {
  return log_fd >= 0 && strncmp(path, root, root_len) == 0 && (path[root_len] == '/' || path[root_len] == '\0');
}

// Writes the path of an open file, without symbolic links, to `path`. Returns 0 if the path cannot be read.
static int path_of_fd(int fd, char* path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = raw(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (size < 0) return 0;
  path[size] = '\0';
  return 1;
}

// Writes to `to` the path that a call means, with no symbolic links in its folder. Returns 1 if the path is below the
// root.
static int resolve(int folder, const char* path, char* to) {
  if (log_fd < 0 || path == NULL) return 0;
  const int before = errno;
  char parent[PATH_MAX];
  const size_t size = strlen(path);
  if (size == 0 || size >= sizeof parent) return 0;
  strcpy(parent, path);
  for (size_t end = size; end > 1 && parent[end - 1] == '/'; --end) parent[end - 1] = '\0';
  char name[NAME_MAX + 1];
  char* slash = strrchr(parent, '/');
  const char* last = slash == NULL ? parent : slash + 1;
  if (strlen(last) > NAME_MAX) return 0;
  strcpy(name, last);
  if (slash == NULL) strcpy(parent, ".");
  else slash[slash == parent] = '\0';
  const int fd = raw(SYS_openat, folder, parent, O_PATH | O_CLOEXEC);
  int found = 0;
  if (fd >= 0) {
    found = path_of_fd(fd, to) && strlen(to) + strlen(name) + 2 < PATH_MAX;
    raw(SYS_close, fd);
    if (found) {
      strcat(to, "/");
      strcat(to, name);
    }
  }
  errno = before;
  return found && below_root(to);
}

// Returns 1 if the descriptor is a regular file or a folder below the root, and writes its status to `status`.
static int watched(int fd, struct stat* status) {
  if (log_fd < 0) return 0;
  const int before = errno;
  char path[PATH_MAX];
  const int result = fstat(fd, status) == 0 && (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode)) &&
                     path_of_fd(fd, path) && below_root(path);
  errno = before;
  return result;
}

// Appends a record to the log: a header, which ends in the lengths of two byte strings, and the byte strings.
static void record(enum kind kind, uint64_t inode, uint64_t number, const void* a, size_t a_size, const void* b,
                   size_t b_size) {
  const int before = errno;
  uint64_t header[5] = {kind, inode, number, a_size, b_size};
  const struct iovec parts[3] = {{header, sizeof header}, {(void*)a, a_size}, {(void*)b, b_size}};
  if (raw(SYS_writev, log_fd, parts, 3) != (ssize_t)(sizeof header + a_size + b_size)) die("the log");
  if (kind != kOpen && kind != kExchange) ++operations;
  errno = before;
}

static void record_paths(enum kind kind, const char* a, const char* b) {
  record(kind, 0, 0, a, strlen(a), b, b == NULL ? 0 : strlen(b));
}

// Records a new file or folder.
static void record_new(enum kind kind, const struct stat* status, const char* path) {
  record(kind, status->st_ino, status->st_mode, path, strlen(path), NULL, 0);
}

// Puts the symbolic link in the place of the folder. Returns 0 or the number of the error.
static int exchange_folder(void) {
  glob_t found;
  const char* folder = exchanged;
  const int is_found = glob(exchanged, GLOB_NOSORT, NULL, &found) == 0;
  if (is_found) folder = found.gl_pathv[0];
  char away[PATH_MAX];
  snprintf(away, sizeof away, "%s.away", folder);
  int result = 0;
  // A name that is not in use yet can still become a link before the program makes it.
  if (raw(SYS_renameat2, AT_FDCWD, folder, AT_FDCWD, away, RENAME_NOREPLACE) != 0 && errno != ENOENT) result = errno;
  else if (raw(SYS_symlinkat, victim, AT_FDCWD, folder) != 0) result = errno;
  if (is_found) globfree(&found);
  return result;
}

// Exchanges the folder with the rights of that user, in this thread only: the kernel takes them from `setfsuid`.
static void exchange(void) {
  int result;
  if (exchange_uid < 0) {
    result = exchange_folder();
  } else {
    gid_t groups[64];
    const long count = raw(SYS_getgroups, 64, groups);
    const uid_t uid = geteuid();
    const gid_t gid = getegid();
    raw(SYS_setgroups, 0, NULL);
    raw(SYS_setfsgid, exchange_uid);
    raw(SYS_setfsuid, exchange_uid);
    result = exchange_folder();
    raw(SYS_setfsuid, uid);
    raw(SYS_setfsgid, gid);
    if (count < 0 || raw(SYS_setgroups, count, groups) != 0) die("setgroups");
  }
  record(kExchange, 0, result, NULL, 0, NULL, 0);
}

// Called before each call that resolves a name.
static void name_used(int folder, const char* path) {
  char to[PATH_MAX];
  if (exchange_at == 0 || !resolve(folder, path, to)) return;
  const int before = errno;
  pthread_mutex_lock(&mutex);
  if (++names == exchange_at) exchange();
  pthread_mutex_unlock(&mutex);
  errno = before;
}

// Called before a call. Returns 1, with `errno` set, if the call is to fail.
static int begin(enum kind kind) {
  pthread_mutex_lock(&mutex);
  const unsigned long n = ++calls[kind];
  if (kind != fault_kind || n < fault_first || n >= fault_first + fault_count) return 0;
  record(kFault, 0, kind, NULL, 0, NULL, 0);
  errno = fault_errno;
  return 1;
}

// Called after a call. The signal is sent without the mutex because its handler may use files.
static void end(void) {
  const int before = errno;
  const int now = signal_number != 0 && operations >= signal_after;
  const int number = signal_number;
  if (now) signal_number = 0;
  pthread_mutex_unlock(&mutex);
  if (now) {
    kill(getpid(), number);
    usleep(30000);
  }
  errno = before;
}

static int do_open(int folder, const char* path, const struct open_how* how, size_t size) {
  name_used(folder, path);
  char to[PATH_MAX];
  const int flags = (int)how->flags;
  const int writes = (flags & (O_WRONLY | O_RDWR)) != 0 && (flags & O_PATH) == 0;
  const long call = size == 0 ? SYS_openat : SYS_openat2;
  const long third = size == 0 ? flags : (long)how, fourth = size == 0 ? (long)how->mode : (long)size;
  if (!writes || !resolve(folder, path, to)) return raw(call, folder, path, third, fourth);
  int fd = -1;
  if (!begin(kOpen)) {
    struct stat status;
    const int existed = raw(SYS_faccessat, AT_FDCWD, to, F_OK) == 0;
    fd = raw(call, folder, path, third, fourth);
    if (fd >= 0 && fstat(fd, &status) == 0) {
      if ((flags & O_TMPFILE) == O_TMPFILE) { errno = 0; die("O_TMPFILE is not supported"); }
      if (!existed) record_new(kCreate, &status, to);
      else if (flags & O_TRUNC) record(kTruncate, status.st_ino, 0, NULL, 0, NULL, 0);
    }
  }
  end();
  return fd;
}

static int open_by_flags(int folder, const char* path, int flags, mode_t mode) {
  const struct open_how how = {.flags = (unsigned)flags, .mode = mode};
  return do_open(folder, path, &how, 0);
}

#define OPEN_MODE(flags, mode)                           \
  mode_t mode = 0;                                       \
  if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                        \
    va_start(list, flags);                               \
    mode = va_arg(list, mode_t);                         \
    va_end(list);                                        \
  }

int open(const char* path, int flags, ...) { OPEN_MODE(flags, mode) return open_by_flags(AT_FDCWD, path, flags, mode); }
int open64(const char* path, int flags, ...) { OPEN_MODE(flags, mode) return open_by_flags(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char* path, int flags, ...) { OPEN_MODE(flags, mode) return open_by_flags(folder, path, flags, mode); }
int openat64(int folder, const char* path, int flags, ...) { OPEN_MODE(flags, mode) return open_by_flags(folder, path, flags, mode); }
int creat(const char* path, mode_t mode) { return open_by_flags(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char* path, mode_t mode) { return open_by_flags(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// `offset` is negative for a write at the descriptor's position.
static ssize_t do_write(int fd, const struct iovec* parts, int count, off_t offset) {
  struct stat status;
  const int at_position = offset < 0;
  if (!watched(fd, &status) || !S_ISREG(status.st_mode))
    return at_position ? raw(SYS_writev, fd, parts, count) : raw(SYS_pwritev, fd, parts, count, offset, 0);
  ssize_t written = -1;
  if (!begin(kWrite)) {
    written = at_position ? raw(SYS_writev, fd, parts, count) : raw(SYS_pwritev, fd, parts, count, offset, 0);
    if (written > 0) {
      uint64_t place = at_position ? (uint64_t)(lseek(fd, 0, SEEK_CUR) - written) : (uint64_t)offset;
      size_t left = (size_t)written;
      for (int i = 0; i < count && left > 0; ++i) {
        const size_t size = parts[i].iov_len < left ? parts[i].iov_len : left;
        if (size > 0) record(kWrite, status.st_ino, place, parts[i].iov_base, size, NULL, 0);
        place += size;
        left -= size;
      }
    }
  }
  end();
  return written;
}

ssize_t write(int fd, const void* data, size_t size) {
  const struct iovec part = {(void*)data, size};
  return do_write(fd, &part, 1, -1);
}
ssize_t writev(int fd, const struct iovec* parts, int count) { return do_write(fd, parts, count, -1); }
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  const struct iovec part = {(void*)data, size};
  return do_write(fd, &part, 1, offset);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) { return pwrite(fd, data, size, offset); }
ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t offset) { return do_write(fd, parts, count, offset); }
ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t offset) { return do_write(fd, parts, count, offset); }

static int do_truncate(int fd, off_t size) {
  struct stat status;
  if (!watched(fd, &status)) return raw(SYS_ftruncate, fd, size);
  int result = -1;
  if (!begin(kTruncate)) {
    result = raw(SYS_ftruncate, fd, size);
    if (result == 0) record(kTruncate, status.st_ino, (uint64_t)size, NULL, 0, NULL, 0);
  }
  end();
  return result;
}
int ftruncate(int fd, off_t size) { return do_truncate(fd, size); }
int ftruncate64(int fd, off64_t size) { return do_truncate(fd, size); }

static int do_sync(long call, int fd) {
  struct stat status;
  if (!watched(fd, &status)) return raw(call, fd);
  const enum kind kind = S_ISDIR(status.st_mode) ? kSyncFolder : kSync;
  if (kind == kSyncFolder && skip_folder_sync) return 0;
  int result = -1;
  if (!begin(kind)) {
    result = raw(call, fd);
    if (result == 0) record(kind, status.st_ino, 0, NULL, 0, NULL, 0);
  }
  end();
  return result;
}
int fsync(int fd) { return do_sync(SYS_fsync, fd); }
int fdatasync(int fd) { return do_sync(SYS_fdatasync, fd); }

static int do_rename(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  name_used(from_folder, from);
  name_used(to_folder, to);
  char a[PATH_MAX], b[PATH_MAX];
  const int from_below = resolve(from_folder, from, a);
  const int to_below = resolve(to_folder, to, b);
  if (!from_below && !to_below) return raw(SYS_renameat2, from_folder, from, to_folder, to, flags);
  if (!from_below || !to_below || (flags & RENAME_EXCHANGE)) { errno = EXDEV; return -1; }
  int result = -1;
  if (!begin(kRename)) {
    result = raw(SYS_renameat2, from_folder, from, to_folder, to, flags);
    if (result == 0) record_paths(kRename, a, b);
  }
  end();
  return result;
}
int rename(const char* from, const char* to) { return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return do_rename(from_folder, from, to_folder, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return do_rename(from_folder, from, to_folder, to, flags);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  name_used(from_folder, from);
  name_used(to_folder, to);
  char a[PATH_MAX], b[PATH_MAX];
  const int from_below = resolve(from_folder, from, a);
  if (!resolve(to_folder, to, b)) return raw(SYS_linkat, from_folder, from, to_folder, to, flags);
  if (!from_below) { errno = EXDEV; return -1; }
  int result = -1;
  if (!begin(kLink)) {
    result = raw(SYS_linkat, from_folder, from, to_folder, to, flags);
    if (result == 0) record_paths(kLink, a, b);
  }
  end();
  return result;
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int folder, const char* path, int flags) {
  name_used(folder, path);
  char to[PATH_MAX];
  if (!resolve(folder, path, to)) return raw(SYS_unlinkat, folder, path, flags);
  const enum kind kind = (flags & AT_REMOVEDIR) ? kRemoveFolder : kUnlink;
  int result = -1;
  if (!begin(kind)) {
    result = raw(SYS_unlinkat, folder, path, flags);
    if (result == 0) record_paths(kind, to, NULL);
  }
  end();
  return result;
}
int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int folder, const char* path, mode_t mode) {
  name_used(folder, path);
  char to[PATH_MAX];
  if (!resolve(folder, path, to)) return raw(SYS_mkdirat, folder, path, mode);
  int result = -1;
  if (!begin(kMakeFolder)) {
    struct stat status;
    result = raw(SYS_mkdirat, folder, path, mode);
    if (result == 0 && raw(SYS_newfstatat, folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0) record_new(kMakeFolder, &status, to);
  }
  end();
  return result;
}
int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int fchmod(int fd, mode_t mode) {
  struct stat status;
  if (!watched(fd, &status)) return raw(SYS_fchmod, fd, mode);
  int result = -1;
  if (!begin(kSetMode)) {
    result = raw(SYS_fchmod, fd, mode);
    if (result == 0) record(kSetMode, status.st_ino, mode, NULL, 0, NULL, 0);
  }
  end();
  return result;
}
int fchmodat(int folder, const char* path, mode_t mode, int flags) {
  name_used(folder, path);
  char to[PATH_MAX];
  if (flags != 0) { errno = EOPNOTSUPP; return -1; }  // As the C library's, for symbolic links.
  if (!resolve(folder, path, to)) return raw(SYS_fchmodat, folder, path, mode);
  int result = -1;
  if (!begin(kSetMode)) {
    struct stat status;
    result = raw(SYS_fchmodat, folder, path, mode);
    if (result == 0 && raw(SYS_newfstatat, folder, path, &status, 0) == 0) record(kSetMode, status.st_ino, mode, NULL, 0, NULL, 0);
  }
  end();
  return result;
}
int chmod(const char* path, mode_t mode) { return fchmodat(AT_FDCWD, path, mode, 0); }

// Calls that resolve names and are not recorded: somebody may exchange a folder before each.
#define NAMED(type, name, declaration, arguments, folder, path) \
  type name declaration {                                       \
    name_used(folder, path);                                    \
    return REAL(name) arguments;                                \
  }
NAMED(int, stat, (const char* path, struct stat* to), (path, to), AT_FDCWD, path)
NAMED(int, stat64, (const char* path, struct stat64* to), (path, to), AT_FDCWD, path)
NAMED(int, lstat, (const char* path, struct stat* to), (path, to), AT_FDCWD, path)
NAMED(int, lstat64, (const char* path, struct stat64* to), (path, to), AT_FDCWD, path)
NAMED(int, fstatat, (int folder, const char* path, struct stat* to, int flags), (folder, path, to, flags), folder, path)
NAMED(int, fstatat64, (int folder, const char* path, struct stat64* to, int flags), (folder, path, to, flags), folder, path)
NAMED(int, statx, (int folder, const char* path, int flags, unsigned mask, struct statx* to), (folder, path, flags, mask, to), folder, path)
NAMED(int, statfs, (const char* path, struct statfs* to), (path, to), AT_FDCWD, path)
NAMED(int, statfs64, (const char* path, struct statfs64* to), (path, to), AT_FDCWD, path)
NAMED(int, statvfs, (const char* path, struct statvfs* to), (path, to), AT_FDCWD, path)
NAMED(int, statvfs64, (const char* path, struct statvfs64* to), (path, to), AT_FDCWD, path)
NAMED(int, access, (const char* path, int mode), (path, mode), AT_FDCWD, path)
NAMED(int, faccessat, (int folder, const char* path, int mode, int flags), (folder, path, mode, flags), folder, path)
NAMED(ssize_t, readlink, (const char* path, char* to, size_t size), (path, to, size), AT_FDCWD, path)
NAMED(ssize_t, readlinkat, (int folder, const char* path, char* to, size_t size), (folder, path, to, size), folder, path)
NAMED(char*, realpath, (const char* path, char* to), (path, to), AT_FDCWD, path)
NAMED(DIR*, opendir, (const char* path), (path), AT_FDCWD, path)
NAMED(int, chdir, (const char* path), (path), AT_FDCWD, path)
NAMED(int, chown, (const char* path, uid_t uid, gid_t gid), (path, uid, gid), AT_FDCWD, path)
NAMED(int, lchown, (const char* path, uid_t uid, gid_t gid), (path, uid, gid), AT_FDCWD, path)
NAMED(int, fchownat, (int folder, const char* path, uid_t uid, gid_t gid, int flags), (folder, path, uid, gid, flags), folder, path)
NAMED(int, utimensat, (int folder, const char* path, const struct timespec times[2], int flags), (folder, path, times, flags), folder, path)

// Ways to copy that are not recorded. Callers fall back to reading and writing.
ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
  struct stat status;
  if (watched(to, &status)) { errno = ENOSYS; return -1; }
  return raw(SYS_copy_file_range, from, from_offset, to, to_offset, size, flags);
}
ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) {
  struct stat status;
  if (watched(to, &status)) { errno = ENOSYS; return -1; }
  return raw(SYS_sendfile, to, from, offset, size);
}
ssize_t sendfile(int to, int from, off_t* offset, size_t size) { return sendfile64(to, from, offset, size); }
ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
  struct stat status;
  if (watched(to, &status)) { errno = EINVAL; return -1; }
  return raw(SYS_splice, from, from_offset, to, to_offset, size, flags);
}
int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  struct stat status;
  if ((request == FICLONE || request == FICLONERANGE) && watched(fd, &status)) { errno = EOPNOTSUPP; return -1; }
  return raw(SYS_ioctl, fd, request, argument);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
  struct stat status;
  if (watched(fd, &status)) { errno = EOPNOTSUPP; return -1; }
  return raw(SYS_fallocate, fd, mode, offset, size);
}
int fallocate(int fd, int mode, off_t offset, off_t size) { return fallocate64(fd, mode, offset, size); }

// Some programs make calls by their number.
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (log_fd >= 0) {
    switch (number) {
      case SYS_openat: return open_by_flags((int)a[0], (const char*)a[1], (int)a[2], (mode_t)a[3]);
      case SYS_openat2: return do_open((int)a[0], (const char*)a[1], (const struct open_how*)a[2], (size_t)a[3]);
      case SYS_fchmod: return fchmod((int)a[0], (mode_t)a[1]);
      case SYS_fchmodat: return fchmodat((int)a[0], (const char*)a[1], (mode_t)a[2], 0);
      case SYS_renameat2: return do_rename((int)a[0], (const char*)a[1], (int)a[2], (const char*)a[3], (unsigned)a[4]);
      case SYS_statx: return statx((int)a[0], (const char*)a[1], (int)a[2], (unsigned)a[3], (struct statx*)a[4]);
      case SYS_copy_file_range: return copy_file_range((int)a[0], (off64_t*)a[1], (int)a[2], (off64_t*)a[3], (size_t)a[4], (unsigned)a[5]);
    }
  }
  return raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
