# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameter services of a node: what is set together is checked and served together."""

from typing import Any

from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.parameter_service import ParameterService


class ParameterServices(ParameterService):
    """As those of every node, but ``ros2 param load`` of a whole file is one change.

    rclpy sets the parameters of one request one by one. Those that do not fit together still are.
    """

    def _set_parameters_callback(
        self, request: SetParameters.Request, response: SetParameters.Response
    ) -> SetParameters.Response:
        node = self._get_node()
        given = [Parameter.from_parameter_msg(message) for message in request.parameters]
        together = [parameter for parameter in given if _can_be_set(node, parameter.name)]
        if len(together) > 1:
            result = node.set_parameters_atomically(together)
            if result.successful:
                for parameter in given:
                    alone = SetParameters.Request(parameters=[parameter.to_parameter_msg()])
                    is_set = parameter in together
                    one = SetParameters.Response(results=[result])
                    if not is_set:
                        one = super()._set_parameters_callback(alone, SetParameters.Response())
                    response.results += one.results
                return response
        return super()._set_parameters_callback(request, response)


def _can_be_set(node: Any, name: str) -> bool:
    return node.has_parameter(name) and not node.describe_parameter(name).read_only
