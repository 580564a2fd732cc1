//! What can be emulated: a subcommand each, with the options of its devices.

use anyhow::{Result, bail, ensure};
use karakuri_hardware::driver::HardwareFile;
use karakuri_serial::codec::{dynamixel, feetech, ics, rcb4, robotiq};
use karakuri_serial::emulator::Bus;
use karakuri_serial::emulator::dynamixel::{Dynamixel, Member, Settings};
use karakuri_serial::emulator::feetech::Feetech;
use karakuri_serial::emulator::ics::Ics;
use karakuri_serial::emulator::rcb1::{self, Case, Rcb1};
use karakuri_serial::emulator::rcb4::{self as rcb4_emulator, Rcb4};
use karakuri_serial::emulator::robotiq::Gripper;

use super::of_file::{self, bus_of};
use super::{Common, common_help};
use crate::commands::ids::Ids;

/// A bus with its options.
#[derive(Debug, clap::Subcommand)]
pub(super) enum BusArgs {
    /// Two RCB-1 boards of a KHR-1 with 17 servos
    Rcb1(Rcb1Args),
    /// An RCB-4 board with ICS servos
    Rcb4(Rcb4Args),
    /// ICS 3.5 servos on one wire
    Ics(IcsArgs),
    /// Feetech STS or SCS servos
    Feetech(FeetechArgs),
    /// Dynamixel servos of the X series, protocol 2.0
    Dynamixel(DynamixelArgs),
    /// A Robotiq two-finger gripper
    Robotiq(RobotiqArgs),
}

impl BusArgs {
    /// Its name in hardware files.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Rcb1(_) => "rcb1",
            Self::Rcb4(_) => "rcb4",
            Self::Ics(_) => "ics",
            Self::Feetech(_) => "feetech",
            Self::Dynamixel(_) => "dynamixel",
            Self::Robotiq(_) => "robotiq",
        }
    }

    /// Where the devices can be reached, and whose servos they are.
    pub(super) fn common(&self) -> &Common {
        match self {
            Self::Rcb1(args) => &args.common,
            Self::Rcb4(args) => &args.common,
            Self::Ics(args) => &args.common,
            Self::Feetech(args) => &args.common,
            Self::Dynamixel(args) => &args.common,
            Self::Robotiq(args) => &args.common,
        }
    }

    /// The devices: those of a hardware file, or of the options.
    pub(super) fn build(&self, file: Option<&HardwareFile>) -> Result<Box<dyn Bus>> {
        Ok(match self {
            Self::Rcb1(args) => args.build(file)?,
            Self::Rcb4(args) => args.build(file)?,
            Self::Ics(args) => args.build(file)?,
            Self::Feetech(args) => args.build(file)?,
            Self::Dynamixel(args) => args.build(file)?,
            Self::Robotiq(args) => args.build(),
        })
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = common_help())]
pub(super) struct Rcb1Args {
    #[command(flatten)]
    common: Common,
    /// Servos: red ones know special positions and report where they are, blue ones what was commanded
    #[arg(long, default_value = "red")]
    case: CaseName,
    /// By how much the clock of board 1 is fast, as a share
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    clock_skew: f64,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum CaseName {
    Red,
    Blue,
}

impl Rcb1Args {
    fn build(&self, file: Option<&HardwareFile>) -> Result<Box<dyn Bus>> {
        let skew = self.clock_skew;
        ensure!(skew.abs() <= 0.5, "--clock-skew {skew}: write a share from -0.5 to 0.5, as 0.01");
        let case = match self.case {
            CaseName::Red => Case::Red,
            CaseName::Blue => Case::Blue,
        };
        let setup = rcb1::Setup { case, clock_skew: [0.0, skew], ..rcb1::Setup::default() };
        Ok(match file {
            Some(file) => of_file::rcb1(file, setup),
            None => Box::new(Rcb1::new(&setup)),
        })
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = common_help())]
pub(super) struct Rcb4Args {
    #[command(flatten)]
    common: Common,
    /// ICS numbers of the servos: twice the id, and 1 more on the second port
    #[arg(long, default_value = "0-16", conflicts_with = "hardware", value_name = "N[-M],...")]
    ids: Ids,
    /// Baud rate of the board when power comes [bit/s]
    #[arg(long, default_value_t = rcb4::BAUDS[0])]
    baud: u32,
    /// As `HeartToHeart4` has set it up: servos are assigned and held, and its program runs
    #[arg(long)]
    project: bool,
}

impl Rcb4Args {
    fn build(&self, file: Option<&HardwareFile>) -> Result<Box<dyn Bus>> {
        if let Some(file) = file {
            return Ok(of_file::rcb4(file, self.project));
        }
        let setup = rcb4_emulator::Setup {
            servos: self.ids.up_to(34, "ICS number")?,
            baud: one_of(self.baud, &rcb4::BAUDS)?,
            project: self.project,
        };
        Ok(Box::new(Rcb4::new(&setup)))
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = common_help())]
pub(super) struct IcsArgs {
    #[command(flatten)]
    common: Common,
    /// Ids of the servos
    #[arg(long, default_value = "0-5", conflicts_with = "hardware", value_name = "N[-M],...")]
    ids: Ids,
    /// Baud rate of the servos [bit/s]
    #[arg(long, default_value_t = ics::BAUDS[0])]
    baud: u32,
}

impl IcsArgs {
    fn build(&self, file: Option<&HardwareFile>) -> Result<Box<dyn Bus>> {
        if let Some(file) = file {
            return bus_of(file);
        }
        let ids = self.ids.up_to(ics::MAX_ID, "ICS id")?;
        Ok(Box::new(Ics::new(&ids, one_of(self.baud, &ics::BAUDS)?)))
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = common_help())]
pub(super) struct FeetechArgs {
    #[command(flatten)]
    common: Common,
    /// Ids of the servos; one that is given twice collides with itself
    #[arg(long, default_value = "1-6", conflicts_with = "hardware", value_name = "N[-M],...")]
    ids: Ids,
    /// Type of the servos
    #[arg(long, default_value = "sts3215")]
    model: FeetechModel,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FeetechModel {
    /// 12 V, 4096 counts a turn, sync read
    Sts3215,
    /// 6 V, 1024 counts in 300°, big-endian
    Scs0009,
}

impl FeetechArgs {
    fn build(&self, file: Option<&HardwareFile>) -> Result<Box<dyn Bus>> {
        let model = match self.model {
            FeetechModel::Sts3215 => &feetech::STS3215,
            FeetechModel::Scs0009 => &feetech::SCS0009,
        };
        if let Some(file) = file {
            return bus_of(file);
        }
        let mut bus = Feetech::new();
        for id in self.ids.up_to(feetech::BROADCAST - 1, "Feetech id")? {
            bus.add(model, id);
        }
        Ok(Box::new(bus))
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = common_help())]
pub(super) struct DynamixelArgs {
    #[command(flatten)]
    common: Common,
    /// A servo: its id and its type; repeat for several
    #[arg(
        long = "servo",
        default_value = "1=XL330-M288",
        conflicts_with = "hardware",
        value_name = "ID=MODEL"
    )]
    servos: Vec<String>,
    /// Baud rate of the servos [bit/s]
    #[arg(long, default_value_t = Settings::default().baud)]
    baud: u32,
    /// Refuse frames that are not stuffed, which the maker's Python library sends
    #[arg(long)]
    strict: bool,
}

impl DynamixelArgs {
    fn build(&self, file: Option<&HardwareFile>) -> Result<Box<dyn Bus>> {
        if let Some(file) = file {
            return of_file::dynamixel(file, self.strict);
        }
        let members: Vec<Member> =
            self.servos.iter().map(|text| member(text)).collect::<Result<_>>()?;
        let baud = one_of(self.baud, &dynamixel::BAUD_RATES)?;
        Ok(Box::new(Dynamixel::new(&members, Settings { baud, is_strict: self.strict })))
    }
}

fn member(text: &str) -> Result<Member> {
    /// Greatest id of a servo.
    const GREATEST: u8 = 252;
    let Some((id, name)) = text.split_once('=') else {
        bail!("--servo {text}: write ID=MODEL, as 1=XL330-M288")
    };
    let Some(id) = id.parse().ok().filter(|id| *id <= GREATEST) else {
        bail!("--servo {text}: `{id}` is no id; write a number from 0 to {GREATEST}")
    };
    let Some(model) = dynamixel::Model::named(name) else {
        let known: Vec<_> = dynamixel::Model::ALL.iter().map(|model| model.name).collect();
        bail!("--servo {text}: there is no type `{name}`; write one of {}", known.join(", "))
    };
    Ok(Member { id, model })
}

#[derive(Debug, clap::Args)]
#[command(after_help = common_help())]
pub(super) struct RobotiqArgs {
    #[command(flatten)]
    common: Common,
    /// Type of the gripper
    #[arg(long, default_value = "2f-85")]
    model: RobotiqModel,
    /// Its Modbus address
    #[arg(long, default_value_t = robotiq::SLAVE, value_parser = clap::value_parser!(u8).range(1..=247))]
    slave: u8,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum RobotiqModel {
    /// 85 mm, 20 to 150 mm/s, 20 to 235 N
    #[value(name = "2f-85")]
    TwoF85,
    /// 140 mm, 30 to 250 mm/s, 10 to 125 N
    #[value(name = "2f-140")]
    TwoF140,
}

impl RobotiqArgs {
    fn build(&self) -> Box<dyn Bus> {
        let model = match self.model {
            RobotiqModel::TwoF85 => robotiq::TWO_F_85,
            RobotiqModel::TwoF140 => robotiq::TWO_F_140,
        };
        Box::new(Gripper::new(model, self.slave))
    }
}

fn one_of(baud: u32, known: &[u32]) -> Result<u32> {
    let list: Vec<String> = known.iter().map(ToString::to_string).collect();
    ensure!(known.contains(&baud), "--baud {baud}: write one of {}", list.join(", "));
    Ok(baud)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servos_are_an_id_and_a_type() {
        let servo = member("2=XM430-W350").unwrap();
        assert_eq!((servo.id, servo.model.number), (2, 1020));
        for (text, expected) in [
            ("2", "write ID=MODEL, as 1=XL330-M288"),
            ("253=XL330-M288", "`253` is no id; write a number from 0 to 252"),
            ("1=AX-12", "there is no type `AX-12`; write one of XL330-M077, XL330-M288,"),
        ] {
            let error = member(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
