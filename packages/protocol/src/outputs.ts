/** What a session leaves for people, as whoever runs its sandbox elsewhere publishes it. [worker/outputs/asked] */
import { z } from 'zod'

/**
 * The one segment under which a file is published: `~1` stands for each `/` of its path, and `~0` for a `~` that could
 * be taken for the beginning of either. RFC 6901 3, but other `~` stay.
 */
export const outputName = (parts: readonly string[]): string =>
  parts.map((part) => part.replaceAll(/~(?=[01])/g, '~0')).join('~1')

/** By name what was published last; null where nothing is published. `largest`: bytes of one file. */
export const OutputHashes = z.object({
  largest: z.number().describe('Bytes that one file may have.'),
  published: z
    .array(
      z.object({ filename: z.string(), sha256: z.string().describe('Of its newest content.') }),
    )
    .nullable()
    .describe('What was published last under each name. Null: this server keeps no outputs.'),
})

/** Of the file as it was sent. */
export const OutputTaken = z.object({
  sha256: z.string().describe('The hash of the bytes that arrived.'),
})
