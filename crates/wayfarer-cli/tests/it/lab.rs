//! The laboratory from the user's side, and its page in a real browser.

use crate::{Folder, wayfarer};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn the_laboratory_lists_what_it_has() {
    wayfarer(&["lab", "list"]).exits(0).prints("diamond").prints("Tables 1 and 2").prints("trees-memory");
    let listed: Value = serde_json::from_str(&wayfarer(&["lab", "list", "--json"]).exits(0).out).unwrap();
    let names: Vec<&str> = listed["experiments"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.len() >= 7 && names.contains(&"components"), "{names:?}");
    wayfarer(&["lab", "run", "diamant"]).exits(2).complains("there is no experiment `diamant`; did you mean `diamond`?");
    wayfarer(&["lab", "run"]).exits(2);
    wayfarer(&["lab", "run", "diamond", "--html", "/nowhere/page.html"]).exits(3).complains("--html cannot write");
}

/// Figures without times.
fn figures(text: &str) -> Value {
    let mut all: Value = serde_json::from_str(text).unwrap();
    all["experiments"].as_array_mut().unwrap().iter_mut().for_each(|one| one["seconds"] = Value::Null);
    all
}

#[test]
fn the_same_seed_gives_the_same_figures_and_finished_experiments_are_kept() {
    let folder = Folder::new();
    let out = folder.path("results");
    let run = |more: &[&str]| wayfarer(&[&["lab", "run", "components", "--quick", "--json", "--out", &out], more].concat()).exits(0);
    let first = run(&["--threads", "1"]);
    let kept = std::fs::read_to_string(folder.path("results/components.quick.json")).unwrap();
    assert!(kept.contains("\"key\": \"components "), "{kept}");
    let second = run(&[]);
    assert!(second.err.contains("found in the folder"), "{}", second.err);
    assert_eq!(first.out, second.out, "what was kept is what was found");
    let third = run(&["--again", "--threads", "2"]);
    assert_eq!(figures(&first.out), figures(&third.out), "neither the clock nor the threads change the figures");
    let other = run(&["--seed", "7"]);
    assert!(!other.err.contains("found in the folder"), "another seed is another experiment");
    std::fs::write(folder.path("results/components.quick.json"), "not a file of ours").unwrap();
    assert_eq!(figures(&run(&[]).out), figures(&first.out), "a broken file is made again");
}

#[test]
fn models_of_others_are_read_from_a_folder_that_the_user_names() {
    let run = |more: &[&str]| wayfarer(&[&["lab", "run", "garage", "--quick", "--quiet"], more].concat());
    run(&[]).exits(0).prints("open").prints("--corpus FOLDER").prints("of 1 claims 0 agree, 0 agree in part, 0 differ and 1 stay open");
    run(&["--corpus", "/nowhere/at/all"]).exits(2).complains("cannot read the folder `/nowhere/at/all` of --corpus");
    // A file of the right name that is not as expected is no specification.
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("garage")).unwrap();
    std::fs::write(folder.path("garage/garage-r2-error.mcrl2"), "init delta;").unwrap();
    run(&["--corpus", &folder.path("")]).exits(0).prints("1 stay open");
}

#[test]
fn findings_read_well_in_a_terminal() {
    let done = wayfarer(&["lab", "run", "back-loops", "--quick", "--quiet"]).exits(0);
    let done = done.prints("agrees   After 50 steps random search has not found it").prints("rdfs").prints("of 4 claims");
    assert!(done.out.lines().all(|line| line.chars().count() <= 112), "{}", done.out);
}

#[test]
fn strategies_are_compared_on_a_model() {
    let folder = Folder::new();
    let model = folder.file("model.m", DINING);
    let page = folder.path("page.html");
    let arguments = ["compare", &model, "--strategies", "bfs,rdfs,walk:restart=50,lanes=1,urs", "--runs", "4", "--steps", "20k", "--quiet"];
    let done = wayfarer(&[&arguments[..], &["--html", &page]].concat()).exits(0);
    let done =
        done.prints("walk:restart=50,lanes=1").prints("Advice: to find it again soon, use ").prints("The rule behind the advice: among strategies");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("<caption>Means: steps"), "{}", done.out);
    assert!(!html.contains("the paper") && !html.contains("settings") && !html.contains(", 0.0 s"), "{html}");
    let json = wayfarer(&[&arguments[..], &["--json"]].concat()).exits(0).json();
    let rows = json["comparison"]["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row[1].as_f64().unwrap()).collect::<Vec<_>>(), [1.0, 4.0, 4.0, 4.0], "bfs needs no repetition");
    assert!(json["comparison"]["plots"][0]["lines"].as_array().unwrap().len() == 4);
    wayfarer(&["compare", &model, "--strategies", "bsf"]).exits(2).complains("did you mean");
    wayfarer(&["compare", &model, "--property", "nothing of this name"]).exits(2).complains("nothing of this name");
}

/// Three philosophers who take their left forks first.
const DINING: &str = "\
type seat: 0..2;
var fork: array[seat] of boolean; mood: array[seat] of 0..2;
startstate begin for s: seat do fork[s] := true; mood[s] := 0; end; end;
ruleset s: seat do
  rule \"left\" mood[s] = 0 & fork[s] ==> begin fork[s] := false; mood[s] := 1; end;
  rule \"right\" mood[s] = 1 & fork[(s + 1) % 3] ==> begin fork[(s + 1) % 3] := false; mood[s] := 2; end;
  rule \"down\" mood[s] = 2 ==> begin fork[s] := true; fork[(s + 1) % 3] := true; mood[s] := 0; end;
end;
";

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_is_finished() {
    let folder = Folder::new();
    let out = folder.path("results");
    // The second experiment takes minutes in full.
    let child = crate::program()
        .args(["lab", "run", "components", "cover-models", "--out", &out])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let kept = std::path::PathBuf::from(folder.path("results/components.json"));
    while !kept.exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let done = crate::Done::new(&child.wait_with_output().unwrap()).exits(130);
    let done = done.complains("interrupted in `cover-models`; 1 of 2 experiments are done and kept");
    assert!(done.out.contains("components") && !std::path::Path::new(&folder.path("results/cover-models.json")).exists());
    wayfarer(&["lab", "run", "components", "--out", &out]).exits(0).complains("components: found in the folder");
}

/// Opens a page in Chromium: at the width of a phone and at that of a desktop, without errors on the console, without
/// anything wider than the window, and without a single request. If there is no Chromium, it says so even if the test
/// runner captures output; `WAYFARER_BROWSER=required` makes that a failure.
#[test]
fn the_page_opens_in_a_browser() {
    let folder = Folder::new();
    let page = folder.path("page.html");
    wayfarer(&["lab", "run", "components", "diamond", "--quick", "--quiet", "--html", &page]).exits(0);
    let text = std::fs::read_to_string(&page).unwrap();
    for browser in ["chromium", "chromium-browser", "google-chrome"] {
        if Command::new(browser).arg("--version").output().is_ok_and(|output| output.status.success()) {
            return open(browser, &folder, &text);
        }
    }
    assert!(std::env::var_os("WAYFARER_BROWSER").is_none_or(|value| value != "required"), "Chromium is required here and was not found");
    let _ = writeln!(std::io::stderr(), "\n!!! Chromium was not found: NO PAGE WAS OPENED IN A BROWSER (apt-get install chromium)\n");
}

fn open(browser: &str, folder: &Folder, text: &str) {
    // The page forbids itself every request and every script; the copy may run the one that measures it.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
    assert!(text.contains(policy), "the page says that it asks for nothing");
    let probe = "<script>addEventListener('load', () => parent.postMessage({ inner: innerWidth, wide: document.documentElement.scrollWidth, \
                 requests: performance.getEntriesByType('resource').length, figures: document.querySelectorAll('svg[role=img]').length, \
                 captions: document.querySelectorAll('table > caption').length, \
                 names: Math.max(...[...document.querySelectorAll('tbody th')].map(name => name.offsetWidth)), tables: document.querySelectorAll('table').length }, '*'));</script></body>";
    let measured = text.replace(policy, &format!("{policy}; script-src 'unsafe-inline'")).replace("</body>", probe);
    folder.file("measured.html", measured);
    for width in [360, 390, 1280] {
        let frame = format!(
            "<!doctype html><body><iframe src=\"measured.html\" style=\"width:{width}px;height:800px;border:0\"></iframe><script>addEventListener('message', \
             event => document.body.dataset.seen = JSON.stringify(event.data));</script></body>"
        );
        let frame = folder.file("frame.html", frame);
        let profile = folder.path("profile");
        let output = Command::new(browser)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-logging=stderr",
                "--window-size=1400,900",
                "--virtual-time-budget=5000",
            ])
            .args([&format!("--user-data-dir={profile}"), "--dump-dom", &format!("file://{frame}")])
            .output()
            .unwrap();
        let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(complaints.is_empty(), "on the console: {complaints:?}");
        let seen =
            dom.split("data-seen=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_else(|| panic!("the page did not load: {dom}\n{log}"));
        let seen: Value = serde_json::from_str(&seen.replace("&quot;", "\"")).unwrap();
        assert_eq!(seen["inner"], width);
        // Figures have room beside the names.
        assert!(seen["names"].as_i64().unwrap() <= width / 2, "names as wide as half a window of {width}: {seen}");
        assert!(seen["wide"].as_i64().unwrap() <= width, "wider than a window of {width}: {seen}");
        assert_eq!((&seen["requests"], &seen["figures"], &seen["captions"]), (&0.into(), &2.into(), &seen["tables"]), "{seen}");
    }
}
