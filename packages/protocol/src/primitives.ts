import { z } from 'zod'

const noNul = (text: string): boolean => !text.includes('\0')
const holdsNul = 'may not hold a NUL character'

/** A word or a variable of a process. The kernel ends such a text at a NUL character. */
export const ProcessText = z.string().refine(noNul, holdsNul)

/** Text of a database column. Postgres stores no NUL character, and no database stores half of a surrogate pair. */
export const Line = z
  .string()
  .refine(noNul, holdsNul)
  .refine((text) => text.isWellFormed(), 'may not hold half of a surrogate pair')

const printableLine = 'must be printable ASCII characters of one line'

/** A secret that is put into a header unchanged. */
export const HeaderSecret = z
  .string()
  .min(1)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, printableLine)

/** Headers that say how a message is carried. The HTTP client refuses to send them. */
const ofConnection = /^(content-length|expect|keep-alive|transfer-encoding|upgrade)$/i

/** Headers that are added to requests, by their names. */
export const HeadersAdded = z.record(
  z
    .string()
    .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header')
    .refine((name) => !ofConnection.test(name), 'belongs to the connection: leave it out'),
  z.string().regex(/^[\x20-\x7e]*$/, printableLine),
)

/** The id of a resource. A longer id would not fit an index. */
export const Id = Line.min(1).max(256)

/** Marks a field that the official interface does not have. */
export const extension = (description: string) => ({ description, 'x-extension': true })

export const Timestamp = z.iso.datetime({ offset: true }).meta({
  id: 'Timestamp',
  description: 'A time as RFC 3339 writes it, with its offset: `2026-01-31T12:00:00Z`.',
})
export const CreatedAt = Timestamp.describe('When it was created.')
export const UpdatedAt = Timestamp.describe('When it was changed last.')
export const ArchivedAt = Timestamp.nullable().describe('When it was archived, or null.')

/** A URL of another system, without a secret in it. */
export const HttpUrl = z
  .url({ protocol: /^https?$/ })
  .max(2048)
  .refine((text) => !hasExtras(text), 'may hold no user, password or fragment')

function hasExtras(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password, hash } = new URL(text)
  return Boolean(username || password || hash)
}

/** At most 16 pairs; keys up to 64 characters, values up to 512. [metadata/limits] */
export const Metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((bag) => Object.keys(bag).length <= 16, 'must have at most 16 pairs')
  .meta({
    id: 'Metadata',
    description: 'Pairs of your own: at most 16, keys of 1 to 64 characters, values of up to 512.',
  })

/** On update a string sets a key, null deletes it, and an absent key is kept. */
export const MetadataPatch = z
  .record(z.string().min(1).max(64), z.string().max(512).nullable())
  .meta({
    id: 'MetadataPatch',
    description: 'A string sets its key, null removes the key, and a key that is absent stays.',
  })

/** A whole number in a query or a form: decimal digits. A number beyond the safe ones is beyond every bound. */
const wholeNumber = (least: number, most: number) =>
  z.preprocess((text, context): unknown => {
    if (typeof text !== 'string') return text
    const number = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
    const problem = Number.isNaN(number)
      ? 'a whole number in decimal digits'
      : number < least
        ? `at least ${least}`
        : number > most && `at most ${most}`
    if (problem) context.addIssue({ code: 'custom', message: `must be ${problem}` })
    return number
  }, z.int().min(least).max(most))

/** `true` and `1` are true. `false`, `0` and an empty value are false. */
export const Flag = z
  .enum(['true', 'false', '1', '0', ''], {
    error: ({ input }) => (typeof input === 'string' ? 'must be true or false' : undefined),
  })
  .transform((text) => text === 'true' || text === '1')

const listOf = (item: z.ZodString) =>
  z.union([item, z.array(item)]).transform((value) =>
    [value]
      .flat()
      .flatMap((part) => part.split(','))
      .filter(Boolean),
  )

/** A list in a query: `name[]=a&name[]=b`, `name=a&name=b` and `name=a,b` mean the same. */
export const TextList = listOf(z.string())

/** A list whose words the published description lists. Other words are not refused here. */
export const listOfWords = (words: readonly string[]) =>
  listOf(z.string().meta({ enum: [...words] }))

/** A list of some of these words. */
export const WordList = <const Word extends string>(words: readonly Word[]) =>
  listOfWords(words).pipe(z.array(z.enum(words)))

/** The cursor has two names: one of the official client and one of the interface. [lists/cursor-names] */
export const ListQuery = z.object({
  limit: wholeNumber(1, 1000).optional().describe('Items of one page at most.'),
  page: z.string().optional().describe('`next_page` or `prev_page` of the page before.'),
  cursor: z.string().optional().meta(extension('Another name of `page`.')),
})

/** Of the lists of models and files. [lists/cursor-names] */
export const ListBesideQuery = ListQuery.extend({
  after_id: z.string().optional().describe('Items behind this id.'),
  before_id: z.string().optional().describe('Items before this id.'),
})

const moments = {
  'created_at[gt]': Timestamp.optional().describe('Created after this time.'),
  'created_at[gte]': Timestamp.optional().describe('Created at this time or after it.'),
  'created_at[lt]': Timestamp.optional().describe('Created before this time.'),
  'created_at[lte]': Timestamp.optional().describe('Created at this time or before it.'),
}
export const CreatedAtQuery = z.object(moments)
export type CreatedAtQuery = z.infer<typeof CreatedAtQuery>

export const pageLimit = wholeNumber
/** Of lists whose pages are short. [lists/short] */
export const shortPageLimit = pageLimit(1, 100).default(20).describe('Items of one page at most.')
export const wholeNumberFrom = (least: number) => wholeNumber(least, Number.MAX_SAFE_INTEGER)

/**
 * The envelope of every list. `next_page` is null on the last page, never an empty cursor. [lists/envelope]
 * [lists/next-page]
 */
export const ListOf = <S extends z.ZodType>(item: S) =>
  z.object({
    data: z.array(item),
    has_more: z.boolean().describe('Whether there is a next page.'),
    next_page: z.string().nullable().describe('Send it as `page` for the next page.'),
    prev_page: z.string().nullable().describe('Send it as `page` for the page before.'),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })

export type Page<Item> = {
  data: Item[]
  has_more: boolean
  next_page: string | null
  prev_page: string | null
}

export const Deleted = <T extends string>(type: T) =>
  z.object({ id: z.string().describe('What was deleted.'), type: z.literal(type) })

/** Any JSON value. */
export const JsonValue: z.ZodType<z.core.util.JSONType> = z
  .lazy(() =>
    z.union([
      z.string(),
      z.number(),
      z.boolean(),
      z.null(),
      z.array(JsonValue),
      z.record(z.string(), JsonValue),
    ]),
  )
  .meta({ id: 'JsonValue', description: 'Any JSON value.' })

export const includeArchived = Flag.optional().describe('Whether archived ones are listed too.')
