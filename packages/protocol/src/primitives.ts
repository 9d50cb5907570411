import { z } from 'zod'

const noNul = (text: string): boolean => !text.includes('\0')
const holdsNul = 'may not hold a NUL character'

/** A word or a variable of a process, which the kernel ends at a NUL character. */
export const ProcessText = z.string().refine(noNul, holdsNul)

/** Text of a database column: Postgres holds no NUL character, and no database half a character. */
export const Line = z
  .string()
  .refine(noNul, holdsNul)
  .refine((text) => text.isWellFormed(), 'may not hold half of a surrogate pair')

/** What something is referred to by; longer ones would not fit an index. */
export const Id = Line.min(1).max(256)

export const Timestamp = z.iso.datetime({ offset: true })

/** Of somebody else's, without a secret in it. */
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
  .refine((bag) => Object.keys(bag).length <= 16, 'at most 16 pairs')

/** On update a string sets a key, null deletes it, and an absent key is kept. */
export const MetadataPatch = z.record(z.string().min(1).max(64), z.string().max(512).nullable())

const wholeNumber = (least: number, most: number) =>
  z.coerce.number<string>().int().min(least).max(most)

/** `true` and `1` are true, `false`, `0` and an empty value are false. */
export const Flag = z
  .enum(['true', 'false', '1', '0', ''])
  .transform((text) => text === 'true' || text === '1')

/** `name[]=a&name[]=b`, `name=a&name=b` and `name=a,b` are the same list. */
export const TextList = z.union([z.string(), z.array(z.string())]).transform((value) =>
  [value]
    .flat()
    .flatMap((part) => part.split(','))
    .filter(Boolean),
)

/** The cursor comes under four names: the official client's, the interface's, and the two of the models list. */
export const ListQuery = z.object({
  limit: wholeNumber(1, 1000).optional(),
  page: z.string().optional(),
  cursor: z.string().optional(),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
})

const moments = {
  'created_at[gt]': Timestamp.optional(),
  'created_at[gte]': Timestamp.optional(),
  'created_at[lt]': Timestamp.optional(),
  'created_at[lte]': Timestamp.optional(),
}
export const CreatedAtQuery = z.object(moments)
export type CreatedAtQuery = z.infer<typeof CreatedAtQuery>

export const pageLimit = wholeNumber
export const wholeNumberFrom = (least: number) => wholeNumber(least, Number.MAX_SAFE_INTEGER)

/** The one list envelope; `next_page` is null on the last page, never an empty cursor. [lists/envelope] [lists/next-page] */
export const ListOf = <S extends z.ZodType>(item: S) =>
  z.object({
    data: z.array(item),
    has_more: z.boolean(),
    next_page: z.string().nullable(),
    prev_page: z.string().nullable(),
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
  z.object({ id: z.string(), type: z.literal(type) })
