//! Profiles in the files of AWS's own tools: `~/.aws/credentials` and `~/.aws/config`.
//!
//! Keys, a region and an endpoint from the environment come before those of the files, and `credentials` comes before
//! `config`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use configparser::ini::{Ini, IniDefault};
use filterblock::escape;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

use crate::{report::ErrorKind, walk::PathError};

/// The settings of a profile.
type Section = HashMap<String, Option<String>>;

/// Settings that lead to credentials through a request or a program. They are not supported, except for `role_arn` with
/// `web_identity_token_file`.
const UNSUPPORTED: [&str; 6] =
    ["role_arn", "source_profile", "credential_source", "sso_session", "sso_start_url", "credential_process"];

/// Completes `builder`, which has read the environment, with the profile that the environment names, or with the
/// default profile. `variable`: returns the value of an environment variable.
///
/// # Errors
///
/// If credentials are needed that the environment does not have, and a file cannot be read or parsed, the profile that
/// the environment names does not exist, or the profile's credentials are of a kind that is not supported.
pub(super) fn completed(
    builder: AmazonS3Builder,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<AmazonS3Builder, PathError> {
    let has = |name: &&str| variable(name).is_some();
    let has_keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].iter().any(has);
    let has_identity = ["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"].iter().all(has);
    let needs_none = variable("AWS_SKIP_SIGNATURE").is_some_and(|value| value == "true");
    let profile = match Profile::read(variable) {
        Err(error) if !(has_keys || has_identity || needs_none) => return Err(error),
        read => read.unwrap_or_default(),
    };
    let mut builder = builder;
    let mut set = |key, value: Option<&str>| {
        if let Some(value) = value {
            builder = std::mem::take(&mut builder).with_config(key, value);
        }
    };
    if !["AWS_REGION", "AWS_DEFAULT_REGION"].iter().any(has) {
        set(AmazonS3ConfigKey::Region, profile.get("region"));
    }
    let ignores = variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS").is_some_and(|value| value == "true");
    if !ignores && !["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"].iter().any(has) {
        set(AmazonS3ConfigKey::Endpoint, profile.get("endpoint_url"));
    }
    if !(has_keys || has_identity || needs_none) {
        profile.credentials(&mut set)?;
    }
    Ok(builder)
}

/// A profile, as far as there is one.
#[derive(Default, Debug)]
struct Profile {
    name: String,
    /// The settings in `credentials`, and those in `config`.
    sections: [Section; 2],
}

impl Profile {
    fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, PathError> {
        let named = variable("AWS_PROFILE").or_else(|| variable("AWS_DEFAULT_PROFILE"));
        let home = variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" });
        let file = |name: &str, usual: &str| {
            let usual = || Some(Path::new(home.as_deref()?).join(".aws").join(usual));
            variable(name).map(|given| in_home(&given, home.as_deref())).or_else(usual)
        };
        let name = named.as_deref().unwrap_or("default");
        let paths = [file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), file("AWS_CONFIG_FILE", "config")];
        let [mut credentials, mut config] = [Sections::new(), Sections::new()];
        for (path, sections) in paths.iter().zip([&mut credentials, &mut config]) {
            *sections = path.as_deref().map_or_else(|| Ok(Sections::new()), sections_of)?;
        }
        let is_of_profile = |section: &str| match section.split_once(char::is_whitespace) {
            Some(("profile", named)) => named.trim().trim_matches(['"', '\'']) == name,
            _ => false,
        };
        let of_profile = config.keys().find(|section| is_of_profile(section)).cloned();
        // Only the default profile may have a section without the word `profile`.
        let of_profile = of_profile.or_else(|| (name == "default").then(|| name.to_owned()));
        let sections = [credentials.remove(name), of_profile.and_then(|section| config.remove(&section))];
        if let (Some(name), [None, None]) = (&named, &sections) {
            let files: Vec<_> = paths.iter().flatten().map(|path| path.to_string_lossy()).collect();
            let files = files.join(" and ");
            return Err(denied(format!(
                "no credentials: no profile {} in {}",
                shown(name),
                escape(files.as_bytes())
            )));
        }
        Ok(Self { name: name.to_owned(), sections: sections.map(Option::unwrap_or_default) })
    }

    fn get(&self, name: &str) -> Option<&str> {
        let of = |section: &'_ Section| section.get(name).cloned().flatten();
        let at =
            self.sections.iter().position(|section| of(section).is_some_and(|value| !value.is_empty()))?;
        self.sections[at].get(name)?.as_deref()
    }

    fn credentials(&self, set: &mut dyn FnMut(AmazonS3ConfigKey, Option<&str>)) -> Result<(), PathError> {
        if let (Some(file), Some(role)) = (self.get("web_identity_token_file"), self.get("role_arn")) {
            set(AmazonS3ConfigKey::WebIdentityTokenFile, Some(file));
            set(AmazonS3ConfigKey::RoleArn, Some(role));
            set(AmazonS3ConfigKey::RoleSessionName, self.get("role_session_name"));
            return Ok(());
        }
        // A role comes before keys, as the keys are then those with which to ask for the role.
        let unsupported = UNSUPPORTED.iter().find(|name| self.get(name).is_some());
        let keys = self.sections.iter().find(|section| section.contains_key("aws_access_key_id"));
        match (unsupported, keys) {
            (Some(setting), keys) if keys.is_none() || *setting == "role_arn" => {
                let name = shown(&self.name);
                let advice =
                    "`aws configure export-credentials --format env` prints variables for the environment";
                Err(PathError::failed(
                    ErrorKind::Denied,
                    format!("no credentials: profile {name} has {setting}, which is not supported: {advice}"),
                ))
            }
            // All three values are from one file, as a token belongs to its keys.
            (_, Some(section)) => {
                for (key, name) in [
                    (AmazonS3ConfigKey::AccessKeyId, "aws_access_key_id"),
                    (AmazonS3ConfigKey::SecretAccessKey, "aws_secret_access_key"),
                    (AmazonS3ConfigKey::Token, "aws_session_token"),
                ] {
                    set(key, section.get(name).and_then(Option::as_deref));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

type Sections = HashMap<String, Section>;

/// The sections of a file; no sections if the file does not exist. Errors quote no part of the file, as it may hold
/// secrets.
fn sections_of(path: &Path) -> Result<Sections, PathError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Sections::new()),
        Err(error) => return Err(denied(format!("no credentials: {}: {error}", shown_path(path)))),
    };
    let mut defaults = IniDefault::default();
    defaults.default_section = String::new();
    defaults.case_sensitive = true;
    // A secret may contain a character that begins a comment at the start of a line. Indented lines belong to the
    // setting above them.
    defaults.enable_inline_comments = false;
    defaults.multiline = true;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ini::new_from_defaults(defaults).read(text.to_owned()).map_err(|error| {
        let line = error.split(':').next().unwrap_or_default();
        denied(format!(
            "no credentials: {}: expected profiles, found something else in {line}",
            shown_path(path)
        ))
    })
}

/// Replaces `~/` at the beginning of a path with the home folder, as AWS's tools do.
fn in_home(path: &str, home: Option<&str>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => path.into(),
    }
}

fn denied(message: String) -> PathError {
    PathError::failed(ErrorKind::Denied, message)
}

fn shown(name: &str) -> String {
    escape(name.as_bytes()).to_string()
}

fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

#[cfg(test)]
mod tests;
