/** What a worker says of a running command of its session. [worker/command-output] */
import { z } from 'zod'

const bytes = z.int().nonnegative()

/** A piece stands for 4,096 bytes; a byte that is no text becomes a character of three bytes. */
const longestText = 4_096

type PlacedText = {
  text: string
  offset: number
  new_index: number
  new_offset: number
  end_offset: number
  total_bytes: number
}

function isPossible({ text, new_index, ...offsets }: PlacedText): boolean {
  const { offset, new_offset, end_offset, total_bytes } = offsets
  const isOrdered = offset <= new_offset && new_offset <= end_offset && end_offset <= total_bytes
  return isOrdered && new_index <= text.length && end_offset - offset <= longestText
}

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
  .refine(isPossible, {
    error: `offset, new_offset, end_offset and total_bytes must not fall, new_index must lie within text, and end_offset at most ${longestText} bytes behind offset`,
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
