//! Traits of message, service and action types. All generated types qualify; nothing else needs to implement these.

use r2r::{WrappedActionTypeSupport, WrappedServiceTypeSupport, WrappedTypesupport};

/// A message type, such as `msg::sensor_msgs::msg::JointState`.
pub trait Message: WrappedTypesupport + Send + Sync + 'static {}
impl<T: WrappedTypesupport + Send + Sync + 'static> Message for T {}

/// A service type, such as `msg::std_srvs::srv::Trigger::Service`.
pub trait Service:
    WrappedServiceTypeSupport<Request: Message, Response: Message> + 'static
{
}
impl<T: WrappedServiceTypeSupport<Request: Message, Response: Message> + 'static> Service for T {}

/// An action type, such as `msg::control_msgs::action::FollowJointTrajectory::Action`.
pub trait Action:
    WrappedActionTypeSupport<
        Goal: Message,
        Result: Message,
        Feedback: Message,
        FeedbackMessage: Message,
        SendGoal: Service,
        GetResult: Service,
    > + 'static
{
}
impl<T> Action for T where
    T: WrappedActionTypeSupport<
            Goal: Message,
            Result: Message,
            Feedback: Message,
            FeedbackMessage: Message,
            SendGoal: Service,
            GetResult: Service,
        > + 'static
{
}
