/** What a running command of a claimed session writes, told by its worker. [worker/command-output] */
import type { CommandOutputReport } from '@steward/protocol/command-output.ts'
import {
  CommandOutputReport as ReportBody,
  CommandOutputWish,
} from '@steward/protocol/command-output.ts'
import type { Bus } from '../../../ground/bus/bus.ts'
import { requireClaim } from '../../../ground/http/principal.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { findCall } from '../../log/calls.ts'
import type { CommandOutput } from '../../log/topics.ts'
import { isOutputWanted, sendOutput } from '../../log/topics.ts'

const outputs = section('Workers', ['claim'], '/v1/ext/command-output/:session_id', 'session')

function pieceOf({ tool_use_id: call, output }: CommandOutputReport): CommandOutput | undefined {
  if (!output) return undefined
  const { text, offset, quiet_ms: quietMs } = output
  const { new_index: newIndex, new_offset: newOffset } = output
  const { end_offset: end, total_bytes: total } = output
  return { call, text, offset, newIndex, newOffset, end, total, quietMs }
}

export const commandOutputRoutes = ({ bus }: { bus: Bus }): Route[] => [
  outputs.post(
    '',
    {
      summary: 'Report the output of a running command',
      description: 'Nothing is kept. The answer says whether anybody listens.',
      body: ReportBody,
      counted: 'never',
      answer: CommandOutputWish,
    },
    async ({ db, principal, body }) => {
      const { tenant, sessionId } = requireClaim(principal)
      const call = await findCall(db.read, tenant, sessionId, body.tool_use_id)
      const runs = call?.type === 'agent.tool_use' && call.state === 'waiting'
      const thread = call?.thread_id ?? sessionId
      const is_wanted = runs && isOutputWanted(bus, thread)
      const piece = pieceOf(body)
      if (is_wanted && piece) sendOutput(bus, thread, piece)
      return { type: 'command_output_wish' as const, is_wanted }
    },
  ),
]
