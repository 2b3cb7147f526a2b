//! Available memory: free on the machine, allowed by the process's control group and limits, and held by the process
//! itself.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A limit on the memory of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The free memory of the machine.
    Machine,
    /// A control group.
    Group,
    /// The limit on address space, `ulimit -v`.
    Addresses,
}

/// Memory that is free on the machine and in the control groups (version 1 and 2) of this process, and the limit on its address space, as they were when
/// they were read.
#[derive(Clone, Copy, Debug)]
pub struct Free {
    machine: Option<usize>,
    group: Option<usize>,
    addresses: Option<usize>,
}

impl Free {
    /// Asks the system, which takes some tenths of a millisecond.
    pub fn read() -> Self {
        Free::below(Path::new("/"))
    }

    fn below(root: &Path) -> Self {
        let machine = field(&root.join("proc/meminfo"), "MemAvailable:").map(|kibibytes| kibibytes.saturating_mul(1024));
        Free { machine, group: read_groups(root).into_iter().min(), addresses: limit_below(root) }
    }

    /// Bytes that may still be allocated, and what bounds them: the minimum of this and of the limit on the address space. `None` if none of these can be read.
    pub fn least(&self) -> Option<(usize, Bound)> {
        self.least_below(Path::new("/"))
    }

    fn least_below(&self, root: &Path) -> Option<(usize, Bound)> {
        // Stacks and the allocator reserve addresses that they hardly use; threads that start later reserve more.
        let reserved = || {
            let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            threads * if crate::memory::threads_share() { ADDRESSES_OF_STACK } else { ADDRESSES_PER_THREAD }
        };
        let addresses = self.addresses.map(|limit| left_of(limit, root)).map(|left| left.saturating_sub(reserved()).max(LEAST_ADDRESSES));
        let known = [(self.machine, Bound::Machine), (self.group, Bound::Group), (addresses, Bound::Addresses)];
        known.into_iter().filter_map(|(bytes, bound)| Some((bytes?, bound))).min_by_key(|(bytes, _)| *bytes)
    }

    /// The default budget: three quarters of the free memory, or 1 GiB if that is not known.
    pub fn default_budget(&self) -> usize {
        self.least().map_or(1 << 30, |(free, _)| free / 4 * 3)
    }
}

/// Bytes of addresses that this process may still reserve, if there is a limit.
pub fn addresses() -> Option<usize> {
    let root = Path::new("/");
    limit_below(root).map(|limit| left_of(limit, root))
}

/// Bytes that this process holds or will hold in addition to the `counted` ones that it allocated: stacks, system
/// tables, and its own code. Code is loaded when it is first run, so its full size is counted.
pub fn besides(counted: usize) -> usize {
    let status = read(Path::new("/proc/self/status")).unwrap_or_default();
    let kibibytes = |name| field_of(&status, name).unwrap_or(0) * 1024;
    let anonymous = kibibytes("RssAnon:").saturating_sub(counted);
    // Beside the code of the program itself, a quarter more for its constants and for libraries: we measured 7.2 MiB,
    // and this gives 7.6.
    let code = kibibytes("VmExe:") * 5 / 4;
    anonymous + kibibytes("RssFile:").max(code)
}

/// Addresses that a thread reserves: its stack, and the allocator's arena for it, unless threads share one.
const ADDRESSES_PER_THREAD: usize = 72 << 20;
const ADDRESSES_OF_STACK: usize = 8 << 20;

/// Groups of version 1 without a limit have one of nearly 2⁶³ bytes.
const UNLIMITED: usize = usize::MAX / 4;

/// If a limit leaves fewer, the run tries with these and ends when the system refuses.
const LEAST_ADDRESSES: usize = 32 << 20;

/// The limit on the addresses of this process, if there is one.
fn limit_below(root: &Path) -> Option<usize> {
    let limits = read(&root.join("proc/self/limits")).ok()?;
    let line = limits.lines().find(|line| line.starts_with("Max address space"))?;
    line["Max address space".len()..].split_whitespace().next()?.parse().ok()
}

/// What is left of such a limit.
fn left_of(limit: usize, root: &Path) -> usize {
    let reserved = field(&root.join("proc/self/status"), "VmSize:").unwrap_or(0).saturating_mul(1024);
    limit.saturating_sub(reserved)
}

/// The remaining bytes of each control group around this process.
fn read_groups(root: &Path) -> Vec<usize> {
    let mut left = Vec::new();
    for line in read(&root.join("proc/self/cgroup")).unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (mount, limit, used) = if controllers.is_empty() {
            (root.join("sys/fs/cgroup"), "memory.max", "memory.current")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            (root.join("sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
        } else {
            continue;
        };
        // Every group above counts too. Inside a container the path may be that of the host; then the mount's root is
        // the container's group.
        let mut group: PathBuf = mount.join(path.trim_start_matches('/'));
        loop {
            left.extend(left_in(&group, limit, used));
            if group == mount || !group.pop() {
                break;
            }
        }
    }
    left
}

fn left_in(group: &Path, limit: &str, used: &str) -> Option<usize> {
    let number = |file: &str| read(&group.join(file)).ok()?.trim().parse::<usize>().ok();
    let limit = number(limit).filter(|limit| *limit < UNLIMITED)?;
    // Unused pages of files are released on demand.
    let stat = group.join("memory.stat");
    let reclaimable = field(&stat, "total_inactive_file").or_else(|| field(&stat, "inactive_file")).unwrap_or(0);
    Some(limit.saturating_sub(number(used)?.saturating_sub(reclaimable)))
}

/// The number after a name at the start of a line.
fn field(file: &Path, name: &str) -> Option<usize> {
    field_of(&read(file).ok()?, name)
}

/// The text of a file that the system makes when it is read. It does not say how long it is, and each attempt to find out is a call.
fn read(file: &Path) -> io::Result<String> {
    let mut text = String::with_capacity(4096);
    File::open(file)?.read_to_string(&mut text)?;
    Ok(text)
}

fn field_of(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn machine(name: &str, files: &[(&str, &str)]) -> Option<(usize, Bound)> {
        let root = std::env::temp_dir().join(format!("wayfarer-memory-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let free = Free::below(&root).least_below(&root);
        let _ = fs::remove_dir_all(&root);
        free
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable:    800 kB\n");

    #[test]
    fn a_machine_without_groups_gives_what_it_has() {
        assert_eq!(machine("plain", &[MEMINFO]), Some((800 * 1024, Bound::Machine)));
        assert_eq!(machine("unknown", &[("proc/other", "")]), None);
    }

    #[test]
    fn groups_of_version_2_count_with_those_above() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "1000\n"),
            ("sys/fs/cgroup/a/memory.max", "500000\n"),
            ("sys/fs/cgroup/a/memory.current", "200000\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 100\ninactive_file 50000\n"),
        ];
        assert_eq!(machine("v2", &files), Some((350_000, Bound::Group)));
    }

    #[test]
    fn groups_of_version_1_count_also_where_the_path_is_the_hosts() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "5:cpu:/\n4:memory:/docker/123\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "600000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n"),
        ];
        assert_eq!(machine("v1", &files), Some((500_000, Bound::Group)));
        let unlimited = [&files[..2], &[("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"), files[3]]].concat();
        assert_eq!(machine("v1-unlimited", &unlimited), Some((800 * 1024, Bound::Machine)));
    }

    #[test]
    fn a_limit_on_address_space_counts() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\nMax address space         300000000000         unlimited            bytes\n";
        let meminfo = ("proc/meminfo", "MemAvailable: 900000000 kB\n");
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let status = ("proc/self/status", "VmSize:   1000000 kB\n");
        let left = 300_000_000_000 - 1_024_000_000 - threads * ADDRESSES_PER_THREAD;
        assert_eq!(machine("limits", &[meminfo, ("proc/self/limits", limits), status]), Some((left, Bound::Addresses)));
    }
}
