/* Tries to read and change files of the lab and of its user, by their paths and past them. */
#include "attempts.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long others_in(const char *directory, const char *own) {
    DIR *opened = opendir(directory);
    if (opened == NULL) return -1;
    errno = ENOENT;
    for (struct dirent *entry; (entry = readdir(opened));) {
        if (entry->d_name[0] == '.' || strncmp(entry->d_name, own, strlen(own)) == 0) continue;
        return 0;
    }
    errno = ENOENT;
    return -1;
}

int main(void) {
    static const char *const files[] = {FILES};
    char path[4096];
    struct {
        unsigned bytes;
        int type;
        unsigned char handle[128];
    } handle = {.bytes = 128};
    int mount_id;

    for (unsigned n = 0; n < sizeof files / sizeof *files; n++) {
        attempt(files[n], open(files[n], O_RDONLY));
        attempt(files[n], open(files[n], O_WRONLY | O_APPEND));
        attempt(files[n], link(files[n], "taken"));
        attempt(files[n], unlink(files[n]));
        snprintf(path, sizeof path, "/proc/1/root%s", files[n]);
        attempt(path, open(path, O_RDONLY));
        snprintf(path, sizeof path, "../../../../../../../../../../..%s", files[n]);
        attempt(path, open(path, O_RDONLY));
        symlink(files[n], "way");
        attempt("a file by a link", open("way", O_RDONLY));
        unlink("way");
    }
    /* The directories that lead to its own are there, and nothing else in them. */
    attempt("another build", others_in(BUILDS, "w-"));
    attempt("another file of the user", others_in(DIRECTORY, "builds"));
    /* These can succeed, in memory of its own: the test sees that they are not outside. */
    close(open(BUILDS "/evil", O_CREAT | O_WRONLY, 0600));
    close(open("../../evil", O_CREAT | O_WRONLY, 0600));
    attempt("a file of the system", open("/usr/bin/evil", O_CREAT | O_WRONLY, 0755));
    attempt("a file of the machine", open("/evil", O_CREAT | O_WRONLY, 0600));
    attempt_filtered("a handle", syscall(SYS_name_to_handle_at, AT_FDCWD, "/usr", &handle, &mount_id, 0), EPERM);
    attempt_filtered("a file by its handle", syscall(SYS_open_by_handle_at, AT_FDCWD, &handle, O_RDONLY), EPERM);
    attempt_filtered("the machine's disk", mount("/dev/sda1", ".", "ext4", 0, ""), EPERM);
    attempt_filtered("a writable system", mount("none", "/usr", "", MS_REMOUNT | MS_BIND, ""), EPERM);
    attempt_filtered("what lies below", umount2("/usr", MNT_DETACH), EPERM);
    attempt_filtered("another root", chroot(".."), EPERM);
    return report();
}
