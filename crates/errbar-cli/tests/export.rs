//! `errbar export` as a person runs it.

use std::path::Path;
use std::process::{Command, Output};

use errbar::fit::{self, Fitted, Kind};
use errbar::mean::gaussian_process::{self, GaussianProcess};
use errbar::{Data, Silent};

fn export(model: &Path, output: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_errbar"));
    command.arg("export").arg(model).arg("-o").arg(output).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn fitted(kind: Kind) -> Fitted {
    let x: Vec<f64> = (0..60).map(f64::from).collect();
    let error: Vec<f64> = x.iter().map(|x| (1.0 + x) * (2.4 * x).sin()).collect();
    let data = Data::new(&x, 1, &error).unwrap();
    let options = fit::Options::default().kind(kind);
    fit::fit(&data, &["x".into()], &options, &Silent).unwrap().fitted
}

#[test]
fn a_model_is_exported_and_the_same_bytes_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let (model, out) = (folder.path().join("model.json"), folder.path().join("MODEL.ONNX"));
    std::fs::write(&model, fitted(Kind::Polynomial).to_json().unwrap()).unwrap();
    let output = export(&model, &out);
    assert!(output.status.success(), "{}", said(&output));
    assert!(output.stdout.is_empty());
    assert!(said(&output).contains("polynomial") && !said(&output).contains("only sigma"));
    let first = std::fs::read(&out).unwrap();
    assert!(export(&model, &out).status.success());
    assert_eq!(first, std::fs::read(&out).unwrap());
}

#[test]
fn every_kind_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    let (model, out) = (folder.path().join("model.json"), folder.path().join("model.onnx"));
    for kind in [Kind::Constant, Kind::Smooth, Kind::Network, Kind::Trees, Kind::Stack, Kind::Auto]
    {
        std::fs::write(&model, fitted(kind).to_json().unwrap()).unwrap();
        let output = export(&model, &out);
        assert!(output.status.success(), "{kind:?}: {}", said(&output));
    }
}

#[test]
fn a_forecast_of_the_models_own_is_said_to_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (model, out) = (folder.path().join("model.json"), folder.path().join("model.onnx"));
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| (0.3 * x).sin() + 0.1 * (40.0 * x).cos()).collect();
    let mean = GaussianProcess::fit(&x, 1, &y, &gaussian_process::Options::default()).unwrap();
    std::fs::write(&model, fitted(Kind::Polynomial).with_mean(mean).to_json().unwrap()).unwrap();
    let output = export(&model, &out);
    assert!(output.status.success() && out.exists());
    assert!(said(&output).contains("only sigma is in it"), "{}", said(&output));
}

#[test]
fn what_cannot_be_exported_is_refused_and_earlier_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.json");
    let refused = |output: &Path, why: &str| {
        std::fs::write(output, "earlier").unwrap();
        let result = export(&model, output);
        assert_eq!(result.status.code(), Some(1));
        let text = said(&result);
        assert!(text.starts_with("errbar: ") && text.lines().count() == 1, "{text}");
        assert!(text.contains(why), "{text}");
        assert_eq!(std::fs::read_to_string(output).unwrap(), "earlier");
    };
    let out = folder.path().join("model.onnx");
    refused(&out, "cannot read the model");
    let good = fitted(Kind::Polynomial).to_json().unwrap();
    for (text, why) in [
        ("{}", "no model file of errbar"),
        (&good.replacen("\"errbar_model\":1", "\"errbar_model\":99", 1), "use a newer one"),
        (
            &good.replacen("\"kind\":\"polynomial\",\"link\"", "\"kind\":\"tree\",\"link\"", 1),
            "tree",
        ),
    ] {
        std::fs::write(&model, text).unwrap();
        refused(&out, why);
    }
    std::fs::write(&model, good).unwrap();
    for name in ["model.pmml", "model", "model.onnx.gz"] {
        refused(&folder.path().join(name), "its files end in .onnx");
    }
}
