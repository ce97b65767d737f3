//! Credentials from the environment variables that Azure's own tools read.

use std::collections::BTreeMap;

use filterblock::escape;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};

use crate::{report::ErrorKind, walk::PathError};

const VARIABLE: &str = "AZURE_STORAGE_CONNECTION_STRING";
/// The connection string that `UseDevelopmentStorage=true` stands for: that of the emulator on this machine, whose
/// account and key are the same everywhere.
const DEVELOPMENT: &str = "AccountName=devstoreaccount1;\
    AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;\
    BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1";

/// Completes `builder`, which has read the environment, with the variables that the client does not know. `authority`:
/// the part of the URL that names the container, and perhaps an account. `variable`: returns the value of an
/// environment variable.
///
/// A connection string comes before all else, as with Azure's own tool, unless the URL names another account.
///
/// # Errors
///
/// If the variable for a connection string holds something else, or a string without an account or credentials.
pub(super) fn completed(
    builder: MicrosoftAzureBuilder,
    authority: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<MicrosoftAzureBuilder, PathError> {
    let account = authority.split_once('@').map(|(_, host)| host.split('.').next().unwrap_or(host));
    if let Some(text) = variable(VARIABLE) {
        let parts = Parts::of(&text)?;
        if account.is_none_or(|account| account == parts.account) {
            return Ok(parts.add_to(builder));
        }
    }
    let mut builder = builder;
    for (name, known, key) in [
        ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME", AzureConfigKey::AccountName),
        ("AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY", AzureConfigKey::AccessKey),
    ] {
        if let (Some(value), None) = (variable(name), variable(known)) {
            builder = builder.with_config(key, value);
        }
    }
    Ok(builder)
}

/// The parts of a connection string.
#[derive(PartialEq, Eq, Debug)]
struct Parts {
    account: String,
    credential: Credential,
    /// The endpoint; `None`: the usual one of the account.
    endpoint: Option<String>,
    is_development: bool,
}

#[derive(PartialEq, Eq, Debug)]
enum Credential {
    Key(String),
    Signature(String),
}

impl Parts {
    /// Parses a connection string. Errors quote no part of it, as it holds a secret.
    fn of(text: &str) -> Result<Self, PathError> {
        let parts: Option<BTreeMap<_, _>> = text
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| {
                part.split_once('=').map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()))
            })
            .collect();
        let parts = parts
            .ok_or_else(|| invalid("parts such as AccountName=…, separated by semicolons", "another"))?;
        let get = |name: &str| parts.get(name).copied().filter(|value| !value.is_empty());
        if get("usedevelopmentstorage").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(Self { is_development: true, ..Self::of(DEVELOPMENT)? });
        }
        let endpoint = get("blobendpoint").map(|endpoint| endpoint.trim_end_matches('/').to_owned());
        let account = get("accountname").map(str::to_owned).or_else(|| account_of(endpoint.as_deref()?));
        let account = account.ok_or_else(|| invalid("AccountName or BlobEndpoint", "neither"))?;
        let credential = match (get("accountkey"), get("sharedaccesssignature")) {
            (Some(key), _) => Credential::Key(key.to_owned()),
            (None, Some(signature)) => Credential::Signature(signature.to_owned()),
            (None, None) => return Err(invalid("AccountKey or SharedAccessSignature", "neither")),
        };
        let endpoint = endpoint.or_else(|| {
            let (protocol, suffix) = (get("defaultendpointsprotocol"), get("endpointsuffix"));
            protocol.or(suffix)?;
            let (protocol, suffix) = (protocol.unwrap_or("https"), suffix.unwrap_or("core.windows.net"));
            Some(format!("{protocol}://{account}.blob.{suffix}"))
        });
        Ok(Self { account, credential, endpoint, is_development: false })
    }

    fn add_to(self, builder: MicrosoftAzureBuilder) -> MicrosoftAzureBuilder {
        // The credential type is set as well, so that other settings of the environment have no effect.
        let builder = builder.with_account(self.account).with_config(AzureConfigKey::UseEmulator, "false");
        let builder = match self.credential {
            Credential::Key(key) => {
                builder.with_access_key(key).with_config(AzureConfigKey::CredentialType, "access_key")
            }
            Credential::Signature(signature) => builder
                .with_config(AzureConfigKey::SasKey, signature)
                .with_config(AzureConfigKey::CredentialType, "sas_token"),
        };
        let builder = if self.is_development { builder.with_allow_http(true) } else { builder };
        match self.endpoint {
            Some(endpoint) => builder.with_endpoint(endpoint),
            None => builder,
        }
    }
}

/// The account of an endpoint such as `https://account.blob.core.windows.net` or `http://127.0.0.1:10000/account`;
/// `None` if the endpoint names no account.
fn account_of(endpoint: &str) -> Option<String> {
    let (_, rest) = endpoint.split_once("://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let first = if path.is_empty() { host.split('.').next()? } else { path.split('/').next()? };
    Some(first.to_owned()).filter(|account| !account.is_empty())
}

fn invalid(expected: &str, found: &str) -> PathError {
    let found = escape(found.as_bytes());
    PathError::failed(ErrorKind::Denied, format!("{VARIABLE}: expected {expected}, found {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(account: &str, endpoint: Option<&str>) -> Parts {
        let (account, endpoint) = (account.to_owned(), endpoint.map(str::to_owned));
        Parts { account, credential: Credential::Key("k==".to_owned()), endpoint, is_development: false }
    }

    #[test]
    fn a_connection_string_is_taken_apart() {
        for (text, expected) in [
            ("AccountName=a;AccountKey=k==", key("a", None)),
            (" accountname = a ; ACCOUNTKEY=k==;;", key("a", None)),
            (
                "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=k==;EndpointSuffix=core.chinacloudapi.cn",
                key("a", Some("https://a.blob.core.chinacloudapi.cn")),
            ),
            (
                "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=k==",
                key("a", Some("http://a.blob.core.windows.net")),
            ),
            (
                "AccountName=a;AccountKey=k==;BlobEndpoint=http://127.0.0.1:1/a/;QueueEndpoint=x",
                key("a", Some("http://127.0.0.1:1/a")),
            ),
            ("BlobEndpoint=http://127.0.0.1:1/a;AccountKey=k==", key("a", Some("http://127.0.0.1:1/a"))),
            (
                "BlobEndpoint=https://a.blob.core.windows.net/;SharedAccessSignature=sv=1&sig=x%3D",
                Parts {
                    credential: Credential::Signature("sv=1&sig=x%3D".to_owned()),
                    ..key("a", Some("https://a.blob.core.windows.net"))
                },
            ),
        ] {
            assert_eq!(Parts::of(text).unwrap(), expected, "{text}");
        }
        let development = Parts::of("UseDevelopmentStorage=true").unwrap();
        assert_eq!(development.endpoint.as_deref(), Some("http://127.0.0.1:10000/devstoreaccount1"));
        assert!(development.is_development);
        for (text, expected) in [
            ("secret", "parts such as"),
            ("AccountKey=secret", "AccountName or BlobEndpoint"),
            ("AccountName=secret", "AccountKey or SharedAccessSignature"),
            ("", "AccountName or BlobEndpoint"),
        ] {
            let error = Parts::of(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Denied);
            assert!(error.to_string().contains(expected) && !error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_connection_string_comes_first_unless_it_is_for_another_account() {
        let found = |authority: &str, variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let builder = completed(MicrosoftAzureBuilder::new(), authority, &variable).unwrap();
            let value = |key| builder.get_config_value(&key).unwrap_or_default();
            [
                value(AzureConfigKey::AccountName),
                value(AzureConfigKey::AccessKey),
                value(AzureConfigKey::CredentialType),
            ]
        };
        let of_string = (VARIABLE, "AccountName=a;AccountKey=k");
        let of_tool = [("AZURE_STORAGE_ACCOUNT", "b"), ("AZURE_STORAGE_KEY", "l")];
        let all = [of_string, of_tool[0], of_tool[1]];
        assert_eq!(found("box", &all), ["a", "k", "access_key"]);
        assert_eq!(found("box@a.dfs.core.windows.net", &all), ["a", "k", "access_key"]);
        assert_eq!(found("box@b.dfs.core.windows.net", &all), ["b", "l", ""]);
        assert_eq!(found("box", &of_tool), ["b", "l", ""]);
        // The client reads these variables itself.
        let known = [("AZURE_STORAGE_ACCOUNT_NAME", "c"), ("AZURE_STORAGE_ACCOUNT_KEY", "m")];
        assert_eq!(found("box", &[of_tool, known].concat()), ["", "", ""]);
    }
}
