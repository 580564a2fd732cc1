//! Parameters of the node.

karakuri_ros::parameters! {
    /// All parameters of the node.
    pub(crate) struct Parameters {
        pub(crate) file: String = String::new(), "Path of the robot (URDF), motions or scene to open.", read_only();
        pub(crate) config: String = String::new(), "Path of the robot YAML of a URDF; empty: found beside it.", read_only();
        pub(crate) folder: String = String::new(), "Folder whose files may be opened and saved; empty: that of the file.", read_only();
        pub(crate) port: i64 = karakuri_studio::DEFAULT_PORT.into(), "Port of the page; 0 takes any that is free.", range(0..=65535), read_only();
        pub(crate) listen: String = String::new(), "Address to listen at, in place of this machine alone; needs `token_file`.", read_only();
        pub(crate) token_file: String = String::new(), "File with the secret of the page's address; empty: a random one.", read_only();
        pub(crate) page: String = String::new(), "Folder of the page's files, in place of those in the program.", read_only();
        pub(crate) board: String = String::new(), "Serial port of the RCB-1 boards of a KHR-1 that motions may be uploaded to, while no driver has it; empty: none.", read_only();
    }
}
