//! The projects that an opencode server knows, of which few are open in it.

use serde::Deserialize;

/// A project of `GET /project`.
#[derive(Deserialize)]
struct Project {
    worktree: String,
    time: ProjectTime,
}

#[derive(Deserialize)]
struct ProjectTime {
    updated: f64,
}

/// Reads the body of `GET /project`, and returns the folders of the projects that were used since this time, in
/// milliseconds since 1970, most recent first.
///
/// Only these are asked for what is open: opencode starts a project, with its servers, that is asked for anything.
pub fn used_since(body: &[u8], since: f64) -> Vec<String> {
    let mut projects: Vec<Project> = serde_json::from_slice(body).unwrap_or_default();
    // `/` stands for all folders that belong to no project.
    projects.retain(|project| project.time.updated >= since && project.worktree != "/");
    projects.sort_by(|left, right| right.time.updated.total_cmp(&left.time.updated));
    projects.into_iter().map(|project| project.worktree).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_projects_of_late_are_returned() {
        let body = br#"[{"id":"a","worktree":"/a","time":{"created":1,"updated":50}},
            {"id":"b","worktree":"/b","time":{"created":1,"updated":99.5}},
            {"id":"c","worktree":"/c","time":{"created":1,"updated":9}},
            {"id":"global","worktree":"/","time":{"created":1,"updated":70}}]"#;
        assert_eq!(used_since(body, 50.0), ["/b", "/a"]);
        assert!(used_since(b"<html>", 0.0).is_empty());
    }
}
