//! Publishing of the walk: points, polygon, footsteps, diagnostics.

use karakuri_ros::IntoMessage;
use karakuri_ros::Status;
use karakuri_spatial::Time;

use crate::planner::{GaitPlanner, TICKS_A_REPORT};
use crate::report;

/// Reports between two messages of the same footsteps, for subscribers that came late.
const REPORTS_A_REPEAT: u64 = 50;
/// Most footsteps shown ahead.
const MOST_SHOWN: usize = 30;

impl GaitPlanner {
    pub(crate) fn report(&mut self, stamp: Time) {
        let (frame, stamp) = (self.parameters.frame.get(), stamp.to_message());
        let points = report::points(&self.walker.engine, &frame, &stamp);
        for (publisher, point) in self.reports.points.iter().zip(points) {
            publisher.publish(&point);
        }
        let polygon = report::support_polygon(&self.walker.engine, &frame, &stamp);
        self.reports.support_polygon.publish(&polygon);
        let shown = (self.walker.engine.steps(), self.walker.engine.footsteps(MOST_SHOWN));
        if shown != self.shown || self.ticks.is_multiple_of(TICKS_A_REPORT * REPORTS_A_REPEAT) {
            let markers = report::footprints(&self.walker.engine, &shown.1, &frame, &stamp);
            self.reports.footsteps.publish(&markers);
            self.shown = shown;
        }
    }

    pub(crate) fn diagnose(&mut self) -> Status {
        if !self.walker.is_engaged() {
            let status = Status::warn("the robot does not stand as the gait begins");
            return match &self.last_fall {
                Some(fall) => status.value("last_fall", fall),
                None => status,
            };
        }
        let lean = self.walker.engine.correction().lean;
        let status = match self.walker.engine.lost() {
            Some(lost) => Status::warn(format!("lost: {}", lost.describe(&self.model))),
            None => Status::ok(if self.walk.is_some() { "walking" } else { "standing" }),
        };
        let status = status
            .value("steps", self.walker.engine.steps())
            .value("lean", format!("{:.3} rad left, {:.3} rad forward", -lean[0], lean[1]));
        let Some(capture) = self.walker.engine.correction().capture else { return status };
        status
            .value("capture", report::takes(capture.capturability))
            .value("capture_margin_m", format!("{:.4}", capture.margin))
    }
}
