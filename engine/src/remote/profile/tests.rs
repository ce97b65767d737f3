use std::collections::BTreeMap;

use super::*;

/// A home folder with these contents of AWS's files `credentials` and `config`. A file without contents is not there.
fn home(credentials: &str, config: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".aws")).unwrap();
    for (name, text) in [("credentials", credentials), ("config", config)] {
        if !text.is_empty() {
            fs::write(home.path().join(".aws").join(name), text).unwrap();
        }
    }
    home
}

/// The key, the secret, the token, the region and the endpoint that are found.
fn found(home: &Path, variables: &[(&str, &str)]) -> Result<[Option<String>; 5], PathError> {
    let home = home.to_str().unwrap();
    let mut all: BTreeMap<_, _> = [("HOME", home), ("USERPROFILE", home)].into();
    all.extend(variables.iter().copied());
    let builder = completed(AmazonS3Builder::new(), &|name| all.get(name).map(|value| (*value).to_owned()))?;
    Ok([
        AmazonS3ConfigKey::AccessKeyId,
        AmazonS3ConfigKey::SecretAccessKey,
        AmazonS3ConfigKey::Token,
        AmazonS3ConfigKey::Region,
        AmazonS3ConfigKey::Endpoint,
    ]
    .map(|key| builder.get_config_value(&key)))
}

#[track_caller]
fn expect(home: &Path, variables: &[(&str, &str)], expected: [&str; 5]) {
    let expected = expected.map(|value| Some(value.to_owned()).filter(|value| !value.is_empty()));
    assert_eq!(found(home, variables).unwrap(), expected, "{variables:?}");
}

const CREDENTIALS: &str = "# keys\n[default]\naws_access_key_id = D1\naws_secret_access_key=s#e;c/r+t=\n\n\
    [work]\naws_access_key_id = W1\naws_secret_access_key = W2\naws_session_token = W3==\n";
const CONFIG: &str = "[default]\nregion = eu-north-1\naws_session_token = of other keys\ns3 =\n  endpoint_url = nested\n  region = nested\n\
    [profile work]\nregion=us-west-2\nendpoint_url = http://127.0.0.1:1\naws_access_key_id = C1\n\
    [profile \"two words\"]\naws_access_key_id = T1\naws_secret_access_key = T2\n\
    [work]\nregion = wrong\n";

#[test]
fn a_profile_is_found_in_both_files() {
    let home = home(CREDENTIALS, CONFIG);
    let home = home.path();
    let default = ["D1", "s#e;c/r+t=", "", "eu-north-1", ""];
    let work = ["W1", "W2", "W3==", "us-west-2", "http://127.0.0.1:1"];
    expect(home, &[], default);
    expect(home, &[("AWS_PROFILE", "work")], work);
    expect(home, &[("AWS_DEFAULT_PROFILE", "work")], work);
    expect(home, &[("AWS_PROFILE", "default"), ("AWS_DEFAULT_PROFILE", "work")], default);
    expect(home, &[("AWS_PROFILE", "two words")], ["T1", "T2", "", "", ""]);
}

/// Outside tests, the builder already has the settings of the environment, so these are not set again.
#[test]
fn the_environment_comes_first() {
    let home = home(CREDENTIALS, CONFIG);
    let home = home.path();
    let work = ("AWS_PROFILE", "work");
    let endpoint = "http://127.0.0.1:1";
    expect(home, &[work, ("AWS_ACCESS_KEY_ID", "E1")], ["", "", "", "us-west-2", endpoint]);
    expect(home, &[work, ("AWS_SECRET_ACCESS_KEY", "E2")], ["", "", "", "us-west-2", endpoint]);
    let identity = [work, ("AWS_WEB_IDENTITY_TOKEN_FILE", "t"), ("AWS_ROLE_ARN", "r")];
    expect(home, &identity, ["", "", "", "us-west-2", endpoint]);
    expect(home, &identity[..2], ["W1", "W2", "W3==", "us-west-2", endpoint]);
    expect(home, &[work, ("AWS_SKIP_SIGNATURE", "true")], ["", "", "", "us-west-2", endpoint]);
    for region in ["AWS_REGION", "AWS_DEFAULT_REGION"] {
        expect(home, &[work, (region, "x")], ["W1", "W2", "W3==", "", endpoint]);
    }
    for (name, value) in [
        ("AWS_ENDPOINT_URL_S3", "x"),
        ("AWS_ENDPOINT_URL", "x"),
        ("AWS_ENDPOINT", "x"),
        ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
    ] {
        expect(home, &[work, (name, value)], ["W1", "W2", "W3==", "us-west-2", ""]);
    }
    // With keys in the environment, a missing profile is no error.
    expect(home, &[("AWS_PROFILE", "none"), ("AWS_ACCESS_KEY_ID", "E1")], ["", "", "", "", ""]);
}

#[test]
fn the_files_may_be_elsewhere() {
    let home = home(CREDENTIALS, CONFIG);
    let other = tempfile::tempdir().unwrap();
    fs::write(
        other.path().join("c d"),
        "\u{feff}[default]\naws_access_key_id: O1\naws_secret_access_key: O2\n",
    )
    .unwrap();
    let path = other.path().join("c d");
    let elsewhere = ("AWS_SHARED_CREDENTIALS_FILE", path.to_str().unwrap());
    expect(home.path(), &[elsewhere], ["O1", "O2", "", "eu-north-1", ""]);
    expect(home.path(), &[elsewhere, ("AWS_CONFIG_FILE", "not there")], ["O1", "O2", "", "", ""]);
    expect(other.path(), &[("AWS_SHARED_CREDENTIALS_FILE", "~/c d")], ["O1", "O2", "", "", ""]);
    // Without files there is nothing to add.
    expect(other.path(), &[], ["", "", "", "", ""]);
}

#[test]
fn what_is_not_supported_is_named() {
    let config = "[profile role]\nrole_arn = arn\nsource_profile = default\naws_access_key_id = x\n\
        [profile sso]\nsso_session = s\nregion = r\n[profile sso2]\nsso_start_url = s\naws_access_key_id = K\n\
        [profile program]\ncredential_process = p\n[profile web]\nrole_arn = arn\nweb_identity_token_file = f\n";
    let home = home(CREDENTIALS, config);
    let error = |name: &str| found(home.path(), &[("AWS_PROFILE", name)]).unwrap_err();
    for (name, setting) in [("role", "role_arn"), ("sso", "sso_session"), ("program", "credential_process")] {
        let error = error(name);
        assert_eq!(error.kind(), ErrorKind::Denied);
        let error = error.to_string();
        assert!(
            error.contains(&format!("profile {name} has {setting}")) && error.contains("aws configure"),
            "{error}"
        );
    }
    let missing = error("no\nne").to_string();
    assert!(
        missing.contains("no profile no\\x0ane in ") && missing.contains("credentials and "),
        "{missing}"
    );
    // Access keys are used even if the profile also has settings for single sign-on. A role with a web identity
    // token in a file is supported.
    expect(home.path(), &[("AWS_PROFILE", "sso2")], ["K", "", "", "", ""]);
    let variable = |name: &str| match name {
        "AWS_PROFILE" => Some("web".to_owned()),
        _ => home.path().to_str().map(str::to_owned).filter(|_| matches!(name, "HOME" | "USERPROFILE")),
    };
    let builder = completed(AmazonS3Builder::new(), &variable).unwrap();
    let value = |key| builder.get_config_value(&key);
    assert_eq!(value(AmazonS3ConfigKey::WebIdentityTokenFile).as_deref(), Some("f"));
    assert_eq!(value(AmazonS3ConfigKey::RoleArn).as_deref(), Some("arn"));
}

/// The error names the line but does not show it, as it may hold a secret.
#[test]
fn a_file_that_is_none_is_named_without_its_contents() {
    let home = home("[default]\naws_access_key_id = D1\n[secret\n", "");
    let error = found(home.path(), &[]).unwrap_err().to_string();
    assert!(error.contains("credentials: expected profiles, found something else in line 3"), "{error}");
    assert!(!error.contains("[secret") && !error.contains("D1"), "{error}");
    // The environment's keys need no file.
    expect(home.path(), &[("AWS_ACCESS_KEY_ID", "E1")], ["", "", "", "", ""]);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".aws").join("config")).unwrap();
    let error = found(folder.path(), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.to_string().contains("config: "), "{error}");
}
