/** Events of streams with `include=chunks`, which the log does not store. */
import { z } from 'zod'
import { clientEventName, lazySchema } from './shown-events.ts'
import { waitingMessageId } from './shown-waiting-messages.ts'
import { WaitingOn } from './waiting-on.ts'

const id = z.string()
const asked = id.describe('The id of the event with which the request began.')

const families = [
  ['agent.message', 'message_id', 'a message of the model'],
  ['agent.thinking', 'thinking_id', 'the thinking of the model'],
  ['agent.tool_use_input', 'tool_use_id', 'the input of a tool call'],
] as const

const liveOf = (type: string, says: string, fields: z.ZodRawShape) =>
  z
    .looseObject({ type: z.literal(type), ...fields, session_id: id })
    .meta({ id: clientEventName(type), description: says, 'x-extension': true })

const whole = id.describe('The id of the event that holds the whole text later.')
const byteCount = z.int().nonnegative()
const delta = z.string().describe('The next piece of the text.')

export const LiveEventShown = lazySchema(() =>
  z.union([
    ...families.flatMap(([type, name, of]) => [
      liveOf(`${type}_stream_start`, `The beginning of ${of}.`, {
        [name]: whole,
        name: z.string().optional().describe('The tool, where there is one.'),
      }),
      liveOf(`${type}_chunk`, `A piece of ${of}.`, { [name]: whole, delta }),
      liveOf(`${type}_stream_end`, `The end of ${of}.`, { [name]: whole }),
    ]),
    liveOf('agent.tool_use_output_chunk', 'What the running command of a tool call writes.', {
      tool_use_id: id.describe('The call.'),
      delta: z.string().describe('The next piece, or the end of all to who lacks pieces.'),
      offset: byteCount.describe('Bytes of the output before the piece.'),
      end_offset: byteCount.describe('Bytes of the output up to the end of the piece.'),
      total_bytes: byteCount.describe('Bytes of the output so far.'),
      quiet_ms: z.number().describe('Milliseconds since the last byte, or since the beginning.'),
    }),
    liveOf('system.user_message_pending', 'A message waits.', { message_id: waitingMessageId }),
    liveOf('system.user_message_promoted', 'A waiting message is taken up.', {
      message_id: waitingMessageId,
    }),
    liveOf('session.waiting_changed', 'What the session waits for now.', { waiting_on: WaitingOn }),
    liveOf('span.model_first_token', 'The first output of the model has arrived.', {
      model_request_start_id: asked,
      ms: z.number().describe('Milliseconds since the request.'),
    }),
  ]),
).meta({
  id: 'LiveSessionEvent',
  description: 'Pieces of what happens, on streams with `include=chunks`; kept nowhere.',
  'x-extension': true,
})
