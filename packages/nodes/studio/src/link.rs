//! The two ends of what goes between the session's thread and the node's.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use karakuri_studio::{LinkNews, RobotLink, Trajectory};

/// What the session asks of the robot.
#[derive(Debug)]
pub(crate) enum Order {
    /// Follow a trajectory.
    Follow(Trajectory),
    /// Stop.
    Stop,
}

/// The session's end.
#[derive(Debug)]
pub(crate) struct Link {
    orders: Sender<Order>,
    news: Receiver<LinkNews>,
}

/// The node's end.
#[derive(Debug)]
pub(crate) struct Robot {
    orders: Receiver<Order>,
    news: Sender<LinkNews>,
}

/// Both ends.
pub(crate) fn pair() -> (Link, Robot) {
    let ((orders, ordered), (news, noted)) = (channel(), channel());
    (Link { orders, news: noted }, Robot { orders: ordered, news })
}

impl RobotLink for Link {
    fn follow(&mut self, trajectory: Trajectory) {
        // A node that ends moves nothing.
        let _ended = self.orders.send(Order::Follow(trajectory));
    }

    fn stop(&mut self) {
        let _ended = self.orders.send(Order::Stop);
    }

    fn news(&mut self) -> Vec<LinkNews> {
        self.news.try_iter().collect()
    }
}

impl Robot {
    /// Tells the session.
    pub(crate) fn tell(&self, news: LinkNews) {
        // A session that has ended hears nothing.
        let _ended = self.news.send(news);
    }

    /// The last order since the last call: a later one takes the place of those before.
    pub(crate) fn newest(&self) -> Option<Order> {
        let mut newest = None;
        loop {
            match self.orders.try_recv() {
                Ok(order) => newest = Some(order),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return newest,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_order_counts() {
        let (mut link, robot) = pair();
        link.follow(Trajectory::default());
        link.stop();
        assert!(matches!(robot.newest(), Some(Order::Stop)));
        assert!(robot.newest().is_none());
        robot.tell(LinkNews::Arrived);
        assert_eq!(link.news(), [LinkNews::Arrived]);
    }
}
