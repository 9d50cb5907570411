/** Outputs that a worker publishes for its session. [worker/outputs/asked] */
import { z } from 'zod'

/**
 * The path segment under which a file is published. `~1` stands for each `/` of the file's path. `~0` stands for a `~`
 * before 0 or 1, as in RFC 6901 3; every other `~` stays.
 */
export const outputName = (parts: readonly string[]): string =>
  parts.map((part) => part.replaceAll(/~(?=[01])/g, '~0')).join('~1')

/** The newest hash of each published name; null when the server keeps no outputs. `largest`: bytes of one file. */
export const OutputHashes = z.object({
  largest: z.number().describe('Bytes that one file may have.'),
  published: z
    .array(
      z.object({ filename: z.string(), sha256: z.string().describe('Of its newest content.') }),
    )
    .nullable()
    .describe('What was published last under each name. Null: this server keeps no outputs.'),
  folder: z
    .string()
    .nullish()
    .describe('The folder of the outputs below `/workspace`. Null: `/mnt/session/outputs`.'),
})

/** The hash of the file as it arrived. */
export const OutputTaken = z.object({
  sha256: z.string().describe('The hash of the bytes that arrived.'),
})
