//! The card files of the study's programs: a gait (Appendix A-1, B-1) and its compensation (A-2, B-2). [Kume 1991]
//!
//! Titles, names of curves and comments have a line each. Numbers are read as they come, over line ends: the columns of the cards
//! are not printed, and a ninth number goes to a new line. Samples are at 1/30 s, from 1.

use super::{
    Curves, Degree, Elbow, EndJoint, Input, Inputs, Interpolation, Kind, Samples, SteadySpec,
    SurveyGrid, TransientSpec, ZmpSpec,
};
use crate::geometry::Rectangle;

/// Error of a card, with its line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct CardError {
    /// Line of the card in its file, from 1.
    pub line: usize,
    /// Cause of the error.
    pub message: String,
}

/// Contents of a pair of card files.
#[derive(Debug, Clone, PartialEq)]
pub enum Cards {
    /// A steady gait and the starts of its march, `θ, φ, θ', φ'`. [rad, rad/s] (n×4)
    Steady(SteadySpec, Vec<[f64; 4]>),
    /// A start or stop and the grid of its survey.
    Transient(Box<TransientSpec>, SurveyGrid),
}

/// Error of one of the two files.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CardsError {
    /// Error of the gait cards, A-1 or B-1.
    #[error("gait cards: {0}")]
    Gait(CardError),
    /// Error of the compensation cards, A-2 or B-2.
    #[error("compensation cards: {0}")]
    Compensation(CardError),
}

impl Cards {
    /// Reads the texts of both files: of a start or stop where the third card of B-2 says START or STOP, else of a steady gait.
    ///
    /// Chosen where the study is silent: steady gaits and their ZMP are smoothed, as the older programs did; starts and stops are
    /// splines with the given ends; the range factor multiplies both ends of the survey, not its step; on both feet the ZMP may
    /// be in the hull of both soles; the display factor has no meaning here.
    ///
    /// # Errors
    /// When a card is missing, or a field is no number or out of range; the error names the file and the card.
    pub fn read(gait: &str, compensation: &str) -> Result<Self, CardsError> {
        // The only card that tells the two kinds of deck apart.
        let kind = compensation.lines().nth(2).map(str::trim);
        let (mut gait, mut more) = (Deck::new(gait), Deck::new(compensation));
        if let Some("START" | "STOP") = kind {
            let gait = TransientGait::read(&mut gait).map_err(CardsError::Gait)?;
            let kind = if kind == Some("START") { Kind::Start } else { Kind::Stop };
            return transient(gait, kind, &mut more).map_err(CardsError::Compensation);
        }
        let gait = SteadyCurves::read(&mut gait).map_err(CardsError::Gait)?;
        steady(gait, &mut more).map_err(CardsError::Compensation)
    }
}

/// Cards, read from the top.
struct Deck<'a> {
    lines: Vec<&'a str>,
    /// Index of the next card, from 0.
    next: usize,
}

impl<'a> Deck<'a> {
    fn new(text: &'a str) -> Self {
        Self { lines: text.lines().collect(), next: 0 }
    }

    /// Error at the card that was read last.
    fn error(&self, message: impl Into<String>) -> CardError {
        // Before the first card was read, the first one is meant.
        CardError { line: self.next.max(1), message: message.into() }
    }

    fn card(&mut self, what: &str) -> Result<&'a str, CardError> {
        let line = self.lines.get(self.next).copied();
        // Counted even at the end, so that the error names the line that is missing.
        self.next += 1;
        line.map(str::trim)
            .ok_or_else(|| self.error(format!("the cards end; {what} should follow")))
    }

    /// Reads `n` numbers, from as many cards as they fill.
    fn numbers(&mut self, n: usize, what: &str) -> Result<Vec<f64>, CardError> {
        let mut numbers = Vec::with_capacity(n);
        while numbers.len() < n {
            for word in self.card(what)?.split_whitespace() {
                let number = word.parse().ok().filter(|x: &f64| x.is_finite());
                let wrong = || self.error(format!("{what}: `{word}` is no number"));
                numbers.push(number.ok_or_else(wrong)?);
            }
        }
        // One too many means that the cards before were misread, too.
        if numbers.len() > n {
            let message = format!("{what}: {} numbers, {n} are expected", numbers.len());
            return Err(self.error(message));
        }
        Ok(numbers)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[f64; N], CardError> {
        let numbers = self.numbers(N, what)?;
        numbers.try_into().map_err(|_| self.error(what))
    }

    /// Whole number from 1 on.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    fn whole(&self, number: f64, what: &str) -> Result<u32, CardError> {
        // Cards have decimal points everywhere, also in numbers of samples.
        let is_whole = (1.0..1e6).contains(&number) && number.fract() == 0.0;
        is_whole
            .then_some(number as u32)
            .ok_or_else(|| self.error(format!("{what}: {number} is no whole number from 1 on")))
    }

    /// Samples of a curve: their count, their steps, their values.
    fn samples(&mut self, what: &str) -> Result<Samples, CardError> {
        let [count] = self.array(&format!("{what}, number of samples"))?;
        let n = self.whole(count, what)? as usize;
        let steps = self.numbers(n, &format!("{what}, steps"))?;
        let values = self.numbers(n, &format!("{what}, values"))?;
        let mut samples = Samples::new();
        for (step, value) in steps.into_iter().zip(values) {
            // The map would keep the later value in silence.
            if samples.insert(self.whole(step, what)?, value).is_some() {
                return Err(self.error(format!("{what}: step {step} is there twice")));
            }
        }
        Ok(samples)
    }

    /// A curve's name, then its samples.
    fn curve(&mut self, name: &str) -> Result<Samples, CardError> {
        let card = self.card(name)?;
        if card != name {
            return Err(self.error(format!("`{card}`; the curve {name} should follow")));
        }
        self.samples(name)
    }

    /// Checks that nothing but blank cards is left.
    fn end(&mut self) -> Result<(), CardError> {
        match self.lines.iter().skip(self.next).position(|line| !line.trim().is_empty()) {
            None => Ok(()),
            Some(i) => {
                self.next += i + 1;
                Err(self.error("nothing should follow here"))
            }
        }
    }
}

fn elbow([inward, left, right]: [f64; 3]) -> Elbow {
    Elbow { inward, forward: [left, right] }
}

/// The time factor has no stated meaning but at 1.
fn time_factor(deck: &Deck<'_>, factor: f64) -> Result<(), CardError> {
    let is_one = (factor - 1.0).abs() < 1e-12;
    is_one
        .then_some(())
        .ok_or_else(|| deck.error(format!("the time factor is {factor}; it must be 1.0")))
}

/// Contents of A-1, the cards of a steady gait.
struct SteadyCurves {
    swing_sample: u32,
    stance_sample: u32,
    /// Thigh, shank and arm: b1, b2, b4.
    curves: [Samples; 3],
}

impl SteadyCurves {
    fn read(deck: &mut Deck<'_>) -> Result<Self, CardError> {
        let [duration] = deck.array("duration [s]")?;
        // Samples are numbered on this period; another duration would need another rate, which the study does not have.
        if (duration - 2.0).abs() > 1e-9 {
            return Err(deck.error(format!("the duration is {duration} s; two steps are 2.0 s")));
        }
        let [swing, support] = deck.array("steps where swing and support begin")?;
        let swing_sample = deck.whole(swing, "step where swing begins")?;
        let stance_sample = deck.whole(support, "step where support begins")?;
        let curves = [deck.curve("BETA1")?, deck.curve("BETA2")?, deck.curve("BETA4")?];
        deck.end()?;
        Ok(Self { swing_sample, stance_sample, curves })
    }
}

/// Reads A-2, the compensation of a steady gait.
fn steady(gait: SteadyCurves, deck: &mut Deck<'_>) -> Result<Cards, CardError> {
    deck.card("a comment")?;
    deck.card("a comment")?;
    let elbow = elbow(deck.array("elbows")?);
    let [time, leg_factor, arm_factor] = deck.array("time, angle and arm factor")?;
    time_factor(deck, time)?;
    // The older programs, which these cards are of, smoothed all curves.
    let zmp = ZmpSpec { x: deck.samples("X ZMP")?, y: deck.samples("Y ZMP")?, smoothed: true };
    let mut starts = Vec::new();
    while deck.lines.iter().skip(deck.next).any(|line| !line.trim().is_empty()) {
        starts.push(deck.array("a start: theta, phi and their rates")?);
    }
    let [thigh, shank, arm] = gait.curves;
    let spec = SteadySpec {
        interpolation: Interpolation::Smoothed,
        swing_sample: gait.swing_sample,
        stance_sample: gait.stance_sample,
        leg_factor,
        arm_factor,
        elbow,
        thigh,
        shank,
        arm,
        foot: Samples::new(),
        zmp,
    };
    Ok(Cards::Steady(spec, starts))
}

/// Contents of B-1, the cards of the gait of a start or stop.
struct TransientGait {
    duration: f64,
    /// Time of the change between standstill and motion. [s]
    change: f64,
    /// Thigh, shank and arm: b1, b2, b4.
    curves: [Curves; 3],
}

impl TransientGait {
    fn read(deck: &mut Deck<'_>) -> Result<Self, CardError> {
        deck.card("a comment")?;
        let [duration, change] = deck.array("duration and time of the change [s]")?;
        if !(0.0..=duration).contains(&change) || duration > 60.0 {
            let message =
                format!("the change is at {change} s of {duration} s; 0 to 60 s are possible");
            return Err(deck.error(message));
        }
        let mut joint = |name: &str| -> Result<EndJoint, CardError> {
            let samples = deck.curve(name)?;
            let [a, b, c, d] =
                deck.array(&format!("{name}, rates and accelerations at the ends"))?;
            Ok(EndJoint { samples, start: [a, b], end: [c, d] })
        };
        let mut pair = |left: &str, right: &str| -> Result<Curves, CardError> {
            Ok(Curves { left: joint(left)?, right: joint(right)? })
        };
        let curves =
            [pair("BETA1L", "BETA1R")?, pair("BETA2L", "BETA2R")?, pair("BETA4L", "BETA4R")?];
        deck.end()?;
        Ok(Self { duration, change, curves })
    }
}

/// The coefficient that is marked among a to f.
fn input(deck: &mut Deck<'_>, what: &str) -> Result<Input, CardError> {
    let marks: [f64; 6] = deck.array(what)?;
    // Of a polynomial with six conditions only one of a, b, c is free; d, e and f follow from where it begins.
    let marked: Vec<usize> = (0..6).filter(|&i| marks[i].abs() > 0.5).collect();
    match marked.as_slice() {
        [0] => Ok(Input::A),
        [1] => Ok(Input::B),
        [2] => Ok(Input::C),
        _ => Err(deck.error(format!("{what}: mark one of a, b, c with 1.0"))),
    }
}

/// Reads B-2, the compensation of a start or stop.
fn transient(gait: TransientGait, kind: Kind, deck: &mut Deck<'_>) -> Result<Cards, CardError> {
    deck.card("a comment")?;
    deck.card("a comment")?;
    deck.card("START or STOP")?;
    let elbow = elbow(deck.array("elbows")?);
    let [time, leg_factor, arm_factor, range, _display] =
        deck.array("time, angle, arm, range and display factor")?;
    time_factor(deck, time)?;
    let input =
        Inputs { sway: input(deck, "input of theta")?, pitch: input(deck, "input of phi")? };
    let [from_sway, to_sway, by_sway, from_pitch, to_pitch, by_pitch] = deck.array("survey")?;
    let [x0, x1, y0, y1] = deck.array("region")?;
    let steady = deck.array("steady motion where it joins")?;
    deck.end()?;
    let [thigh, shank, arm] = gait.curves;
    let (before, after) = (gait.change, gait.duration - gait.change);
    // The card has the time of the change; what comes before it is the standstill of a start and the motion of a stop.
    let (standstill, motion) = if kind == Kind::Start { (before, after) } else { (after, before) };
    let spec = TransientSpec {
        kind,
        standstill,
        motion,
        interpolation: Interpolation::Spline,
        degree: Degree::Five,
        input,
        leg_factor,
        arm_factor,
        elbow,
        thigh,
        shank,
        arm,
        steady,
        single_support: Rectangle { x: [x0, x1], y: [y0, y1] },
        double_support: None,
    };
    let grid = SurveyGrid {
        sway: [range * from_sway, range * to_sway, by_sway],
        pitch: [range * from_pitch, range * to_pitch, by_pitch],
    };
    Ok(Cards::Transient(Box::new(spec), grid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str) -> &'static str {
        match name {
            "h9_gait" => include_str!("../../../../../config/gaits/cards/h9_gait.txt"),
            "h9" => include_str!("../../../../../config/gaits/cards/h9_compensation.txt"),
            "ah2_gait" => include_str!("../../../../../config/gaits/cards/ah2_gait.txt"),
            _ => include_str!("../../../../../config/gaits/cards/ah2_compensation.txt"),
        }
    }

    #[derive(serde::Deserialize)]
    struct File {
        steady: Option<SteadySpec>,
        #[serde(default)]
        starts: Vec<[f64; 4]>,
        transient: Option<TransientSpec>,
    }

    fn yaml(name: &str) -> File {
        let text = match name {
            "h9" => include_str!("../../../../../config/gaits/h9.yaml"),
            _ => include_str!("../../../../../config/gaits/ah2_start.yaml"),
        };
        serde_yaml::from_str(text).unwrap()
    }

    /// The cards say what the YAML files say, whose ZMP is not smoothed and whose regions are those of the later surveys.
    #[test]
    fn cards_are_the_gaits_of_the_yaml_files() {
        let Cards::Steady(steady, starts) = Cards::read(text("h9_gait"), text("h9")).unwrap()
        else {
            panic!("cards of a steady gait")
        };
        let file = yaml("h9");
        let mut expected = file.steady.unwrap();
        expected.zmp.smoothed = true;
        assert_eq!(steady, expected);
        assert_eq!(starts, file.starts);
        let Cards::Transient(start, grid) = Cards::read(text("ah2_gait"), text("ah2")).unwrap()
        else {
            panic!("cards of a start")
        };
        let expected = TransientSpec {
            single_support: Rectangle { x: [-0.05, 0.2], y: [-0.09, 0.08] },
            double_support: None,
            ..yaml("ah2").transient.unwrap()
        };
        assert_eq!(*start, expected);
        assert_eq!(grid, SurveyGrid { sway: [-10.0, 10.0, 0.01], pitch: [-10.0, 10.0, 0.01] });
    }

    #[test]
    fn wrong_cards_are_reported_with_their_line() {
        for (from, to, line, message) in [
            ("25 55", "25 5.5", 2, "5.5 is no whole number"),
            ("BETA2", "BETA3", 7, "`BETA3`; the curve BETA2 should follow"),
            ("-0.12 0.28", "-0.12 O.28", 10, "`O.28` is no number"),
            ("0.0 -0.02", "0.0", 14, "the cards end"),
            ("2.0\n", "3.0\n", 1, "two steps are 2.0 s"),
            ("0.0 -0.02", "0.0 -0.02\n1", 15, "nothing should follow"),
        ] {
            let Err(CardsError::Gait(e)) =
                Cards::read(&text("h9_gait").replace(from, to), text("h9"))
            else {
                panic!("{to}: an error was expected")
            };
            assert!(
                e.line == line + usize::from(message == "the cards end")
                    && e.message.contains(message),
                "{to}: {e}"
            );
        }
        let marked = text("ah2").replacen("0.0 0.0 1.0 0.0 0.0 0.0", "0.0 1.0 1.0 0.0 0.0 0.0", 1);
        let Err(error) = Cards::read(text("ah2_gait"), &marked) else { panic!("two inputs") };
        let expected = "compensation cards: line 6: input of theta: mark one of a, b, c with 1.0";
        assert_eq!(error.to_string(), expected);
    }
}
