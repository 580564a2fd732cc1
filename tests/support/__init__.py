"""What tests of running nodes share: a ROS domain, node processes, an rclpy client."""
