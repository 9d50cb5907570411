/** The working folder of a session, as people look at it. [folder/list] */
import { z } from 'zod'
import { ListOf, pageLimit, Timestamp } from './primitives.ts'

/** A path below the working folder. */
export const FolderPath = z
  .string()
  .max(4096)
  .refine((text) => !text.includes('\0'), 'may not hold a NUL character')
  .refine((text) => !text.split('/').includes('..'), 'may hold no segment `..`')
  .default('')
  .describe('Below `/workspace`: `src/a.ts` and `/workspace/src/a.ts` are one place.')

export const FolderListQuery = z.object({
  path: FolderPath,
  limit: pageLimit(1, 1000).default(200).describe('Entries of one page at most.'),
  page: z.string().optional().describe('`next_page` of the page before.'),
})
export type FolderListQuery = z.infer<typeof FolderListQuery>

export const FolderContentQuery = z.object({ path: FolderPath })

export const FolderEntryShown = z
  .object({
    name: z.string().describe('Bytes that are no UTF-8 are shown as U+FFFD.'),
    is_exact: z.boolean().describe('False: the name is no UTF-8, so that no path leads there.'),
    kind: z
      .enum(['file', 'folder', 'link', 'other'])
      .describe('`other`: a pipe, a socket or a device, which is never opened.'),
    size: z.number().int().nullable().describe('Bytes of a file, null for anything else.'),
    modified_at: Timestamp.nullable().describe('Null for a time that no calendar has.'),
    target: z.string().nullable().describe('The text of a link, which is never followed.'),
  })
  .meta({ id: 'FolderEntry', description: 'A file, a folder or a link in a working folder.' })
export type FolderEntryShown = z.infer<typeof FolderEntryShown>

export const sourceFields = {
  source: z
    .enum(['live', 'checkpoint', 'none'])
    .describe(
      '`live`: the folder on the machine of this server. `checkpoint`: the newest checkpoint of a folder that lies elsewhere. `none`: there is nothing to read.',
    ),
  at: Timestamp.nullable().describe('The time as of which the folder is shown; null for none.'),
  reason: z.string().nullable().describe('Why there is nothing to read.'),
}

export const FolderShown = ListOf(FolderEntryShown)
  .extend({
    path: z.string().describe('The folder: `/workspace`, or below it.'),
    ...sourceFields,
    is_complete: z
      .boolean()
      .describe('False: the folder has more entries than are looked at, and some are not listed.'),
  })
  .meta({ id: 'Folder', description: 'A page of the entries of a folder of a session.' })
