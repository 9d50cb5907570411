/** What has changed in the working folder of a session. [changes/net] */
import { z } from 'zod'
import { pageLimit, Timestamp } from './primitives.ts'
import { FolderPath } from './working-folders.ts'

const seq = pageLimit(0, Number.MAX_SAFE_INTEGER)

export const FolderChangesQuery = z.object({
  from: z
    .union([z.literal('start'), seq])
    .default('start')
    .describe('The `seq` of an event, or `start`: as the session began.'),
  to: z
    .union([z.literal('now'), seq])
    .default('now')
    .describe('The `seq` of an event, or `now`.'),
  path: FolderPath.describe('Only what lies there or below it.'),
})
export type FolderChangesQuery = z.infer<typeof FolderChangesQuery>

const size = z.number().int().nullable()
const count = z.number().int()

const FolderChangeShown = z
  .object({
    path: z.string().describe('Below `/workspace`.'),
    previous_path: z.string().nullable().describe('Of a renamed file, else null.'),
    change: z
      .enum(['added', 'changed', 'removed', 'renamed'])
      .describe('`renamed`: the same content lay under another path before.'),
    kind: z
      .enum(['file', 'link', 'other'])
      .describe('What it is afterwards; what it was, where it is removed.'),
    size: size.describe('Bytes afterwards; null for what is removed, or no file.'),
    previous_size: size.describe('Bytes before; null for what is added, or was no file.'),
    lines_added: count.nullable().describe('Null where the lines were not compared.'),
    lines_removed: count.nullable().describe('Null where the lines were not compared.'),
    diff: z.string().nullable().describe('A unified diff of a text, or null.'),
    diff_reason: z
      .enum(['binary', 'too_long', 'too_many', 'not_a_file', 'same_content'])
      .nullable()
      .describe(
        'Why there is no diff. `too_long`: beyond 256 KiB, or too different. `too_many`: other files have used up what one answer compares; ask for this `path` alone.',
      ),
  })
  .meta({ id: 'FolderChange', description: 'A file that differs between two times.' })
export type FolderChangeShown = z.infer<typeof FolderChangeShown>

export const ChangedTurnsQuery = z.object({
  limit: pageLimit(1, 100).default(50).describe('Turns of one page at most.'),
  page: z.string().optional().describe('`next_page` of the page before.'),
})
export type ChangedTurnsQuery = z.infer<typeof ChangedTurnsQuery>

export const ChangedTurnShown = z
  .object({
    from: z.number().int().describe('The last event of the turn before; 0 for the first turn.'),
    to: z.number().int().describe('The last event of the turn.'),
    state: z
      .enum(['known', 'unchanged', 'unknown'])
      .describe(
        '`known`: ask for the changes with this `from` and `to`. `unchanged`: no call of the turn had a result. `unknown`: the folder before it or after it is not kept.',
      ),
    reason: z.string().nullable().describe('Why the changes are unknown.'),
  })
  .meta({ id: 'ChangedTurn', description: 'A turn, and whether its changes can be shown.' })
export type ChangedTurnShown = z.infer<typeof ChangedTurnShown>

const FolderPointShown = z
  .object({
    source: z
      .enum(['empty', 'checkpoint', 'live'])
      .describe('`empty`: before any command. `live`: the folder on the machine of this server.'),
    seq: z.number().int().nullable().describe('The newest event before a checkpoint, else null.'),
    at: Timestamp.nullable().describe('When the folder was so; null for the empty one.'),
  })
  .meta({ id: 'FolderPoint', description: 'A state of a working folder that is compared.' })
export type FolderPointShown = z.infer<typeof FolderPointShown>

export const FolderChangesShown = z
  .object({
    type: z.literal('folder_changes'),
    state: z
      .enum(['known', 'unknown'])
      .describe('`unknown`: the folder of one of the two times is not kept.'),
    reason: z.string().nullable().describe('Why the changes are unknown.'),
    from: FolderPointShown.nullable(),
    to: FolderPointShown.nullable(),
    files: z.array(FolderChangeShown).describe('By path, 1,000 at most.'),
    totals: z
      .object({
        added: count.describe('Files that were added.'),
        changed: count.describe('Files with other content.'),
        removed: count.describe('Files that were removed.'),
        renamed: count.describe('Files that have another path.'),
        lines_added: count.describe('Lines that were added, in the texts that were compared.'),
        lines_removed: count.describe('Lines that were removed, in the texts that were compared.'),
        lines_are_complete: z
          .boolean()
          .describe('False: some texts were not compared, and their lines are not counted.'),
      })
      .describe('Of all files, those too that are not listed.'),
    left_out: z
      .array(
        z.object({
          path: z.string().describe('What lies there or below it.'),
          files: count.describe('Files that differ there; 0 where that is unknown.'),
          reason: z.string().describe('Why it is left out, as a sentence.'),
        }),
      )
      .describe('What is not compared, or not listed.'),
  })
  .meta({ id: 'FolderChanges', description: 'What differs between two times of a working folder.' })
export type FolderChangesShown = z.infer<typeof FolderChangesShown>
