/** What a worker says of a running command of its session. [worker/command-output] */
import { z } from 'zod'

const bytes = z.int().nonnegative()

/** A piece stands for 4,096 bytes; a byte that is no text becomes a character of three bytes. */
const longestText = 4_096

const OutputPiece = z
  .strictObject({
    text: z.string().max(longestText).describe('The newest part of the output.'),
    offset: bytes.describe('Bytes of the output before `text`.'),
    new_index: bytes.describe('Where the part of `text` begins that is new.'),
    new_offset: bytes.describe('Bytes of the output before the part that is new.'),
    end_offset: bytes.describe('Bytes of the output up to the end of `text`.'),
    total_bytes: bytes.describe('Bytes of the output so far.'),
    quiet_ms: z.number().nonnegative().describe('Milliseconds since the last byte.'),
  })
  .meta({ id: 'CommandOutputPiece', description: 'A piece of the output of a running command.' })

export const CommandOutputReport = z
  .strictObject({
    tool_use_id: z.string().min(1).max(100).describe('The call whose command runs.'),
    output: OutputPiece.optional().describe('Absent: the worker asks whether anybody listens.'),
  })
  .meta({
    id: 'CommandOutputParams',
    examples: [{ tool_use_id: 'sevt_01jz4k8mvd2q7w9x3n5b6c7d8e' }],
  })
export type CommandOutputReport = z.infer<typeof CommandOutputReport>

export const CommandOutputWish = z
  .strictObject({
    type: z.literal('command_output_wish'),
    is_wanted: z.boolean().describe('Whether anybody listens to what the command writes.'),
  })
  .meta({ id: 'CommandOutputWish', description: 'Whether a worker should go on telling.' })
export type CommandOutputWish = z.infer<typeof CommandOutputWish>
