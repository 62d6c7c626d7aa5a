# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameter services of a node: what is set together is checked and served together."""

from collections.abc import Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.exceptions import ParameterNotDeclaredException
from rclpy.parameter import Parameter
from rclpy.parameter_service import ParameterService


class ParameterServices(ParameterService):
    """As those of every node, but ``ros2 param load`` of a whole file is one change.

    rclpy sets the parameters of one request one by one. Those that do not fit together still are.
    The node tries them on its robot in a thread of its own, while others are answered.
    """

    async def _set_parameters_callback(
        self, request: SetParameters.Request, response: SetParameters.Response
    ) -> SetParameters.Response:
        node = self._get_node()
        given = [Parameter.from_parameter_msg(message) for message in request.parameters]
        together = [parameter for parameter in given if _can_be_set(node, parameter.name)]
        result = SetParametersResult(successful=False)
        if len(together) > 1:
            result = await self._set(together)
        for parameter in given:
            is_set = result.successful and parameter in together
            response.results.append(result if is_set else await self._set([parameter]))
        return response

    async def _set_parameters_atomically_callback(
        self, request: SetParametersAtomically.Request, response: SetParametersAtomically.Response
    ) -> SetParametersAtomically.Response:
        given = [Parameter.from_parameter_msg(message) for message in request.parameters]
        response.result = await self._set(given)
        return response

    async def _set(self, parameters: Sequence[Any]) -> SetParametersResult:
        node: Any = self._get_node()
        try:
            reason = await node.objection(parameters)
            if reason:
                return SetParametersResult(successful=False, reason=reason)
            return node.set_parameters_atomically(parameters)
        except ParameterNotDeclaredException as error:
            return SetParametersResult(successful=False, reason=str(error))


def _can_be_set(node: Any, name: str) -> bool:
    return node.has_parameter(name) and not node.describe_parameter(name).read_only
