//! The six parameter services of a node.

use std::{cell::RefCell, rc::Rc};

use crate::{Node, RosError, msg::rcl_interfaces::srv, parameter_server::ParameterServer};

/// Opens the six services.
pub(crate) fn serve<S: 'static>(
    node: &mut Node<S>,
    server: &Rc<RefCell<ParameterServer<S>>>,
) -> Result<(), RosError> {
    let s = Rc::clone(server);
    node.service::<srv::SetParameters::Service>("~/set_parameters", move |state, request| {
        srv::SetParameters::Response {
            results: s.borrow_mut().set_each(&request.parameters, state),
        }
    })?;
    let s = Rc::clone(server);
    node.service::<srv::SetParametersAtomically::Service>(
        "~/set_parameters_atomically",
        move |state, request| srv::SetParametersAtomically::Response {
            result: s.borrow_mut().set_all(&request.parameters, state),
        },
    )?;
    let s = Rc::clone(server);
    node.service::<srv::GetParameters::Service>("~/get_parameters", move |_, request| {
        srv::GetParameters::Response {
            values: request.names.iter().map(|n| s.borrow().value(n)).collect(),
        }
    })?;
    let s = Rc::clone(server);
    node.service::<srv::GetParameterTypes::Service>("~/get_parameter_types", move |_, request| {
        srv::GetParameterTypes::Response {
            types: request.names.iter().map(|n| s.borrow().value(n).type_).collect(),
        }
    })?;
    let s = Rc::clone(server);
    node.service::<srv::DescribeParameters::Service>(
        "~/describe_parameters",
        move |_, request| srv::DescribeParameters::Response {
            descriptors: request.names.iter().map(|n| s.borrow().describe(n)).collect(),
        },
    )?;
    let s = Rc::clone(server);
    node.service::<srv::ListParameters::Service>("~/list_parameters", move |_, request| {
        srv::ListParameters::Response { result: s.borrow().list(&request.prefixes, request.depth) }
    })
}
