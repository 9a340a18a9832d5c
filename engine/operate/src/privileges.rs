//! `--user`: the process gives up the rights of root for good, once what needs them is open.
//!
//! Invariant: it either has no rights of root any more, also not by groups, or an error says so.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, lchown};
use std::path::Path;

use nix::unistd::{Gid, Group, Uid, User, getegid, geteuid, setgid, setgroups, setuid};
use temblor_runtime::error::Error;

/// Becomes another user: `NAME`, or `NAME:GROUP`.
///
/// # Errors
/// There is no such user or group, or the process may not become it.
pub fn become_user(name: &str) -> Result<(), Error> {
    let place = format!("--user {name}");
    let failed = |reason: String| Error::config(place.clone(), reason);
    let (user, group) = find(name).map_err(failed)?;
    if !geteuid().is_root() {
        let is_already = geteuid() == user && getegid() == group;
        let reason = "only root can become another user; start it as root, or without --user";
        return if is_already { Ok(()) } else { Err(failed(reason.to_string())) };
    }
    let refused = |what: &str, error: nix::Error| failed(format!("{what}: {error}"));
    setgroups(&[group]).map_err(|error| refused("its groups cannot be given up", error))?;
    setgid(group).map_err(|error| refused("the group cannot be changed", error))?;
    setuid(user).map_err(|error| refused("the user cannot be changed", error))?;
    if !user.is_root() && setuid(Uid::from_raw(0)).is_ok() {
        return Err(failed("the rights of root could be had again".to_string()));
    }
    Ok(())
}

/// Gives a state directory, which is made where needed, and the files in it to a user.
///
/// # Errors
/// There is no such user, or the directory cannot be given away.
pub fn give(directory: &Path, name: &str) -> Result<(), Error> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let place = directory.display().to_string();
    let failed = |reason: String| Error::config(place.clone(), reason);
    let (user, group) = find(name).map_err(failed)?;
    let (user, group) = (Some(user.as_raw()), Some(group.as_raw()));
    let given = || -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        lchown(directory, user, group)?;
        for entry in std::fs::read_dir(directory)? {
            lchown(entry?.path(), user, group)?;
        }
        Ok(())
    };
    given().map_err(|error| failed(format!("cannot be given to `{name}`: {error}")))
}

fn find(name: &str) -> Result<(Uid, Gid), String> {
    let (user, group) =
        name.split_once(':').map_or((name, None), |(user, group)| (user, Some(group)));
    let found = User::from_name(user).map_err(|error| error.to_string())?;
    let found = found.ok_or_else(|| format!("there is no user `{user}`"))?;
    let Some(group) = group else { return Ok((found.uid, found.gid)) };
    let known = Group::from_name(group).map_err(|error| error.to_string())?;
    let known = known.ok_or_else(|| format!("there is no group `{group}`"))?;
    Ok((found.uid, known.gid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_groups_are_found_by_name() {
        assert_eq!(find("root"), Ok((Uid::from_raw(0), Gid::from_raw(0))));
        assert!(find("no-such-user-here").unwrap_err().contains("no user"));
        assert!(find("root:no-such-group-here").unwrap_err().contains("no group"));
    }
}
