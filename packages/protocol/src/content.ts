import { z } from 'zod'

const base64 = z.object({ type: z.literal('base64'), media_type: z.string(), data: z.base64() })
const url = z.object({ type: z.literal('url'), url: z.url() })
const file = z.object({ type: z.literal('file'), file_id: z.string() })

export const TextBlock = z.strictObject({ type: z.literal('text'), text: z.string() })
export const ImageBlock = z.strictObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [base64, url, file]),
})
export const DocumentBlock = z.strictObject({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [
    base64,
    url,
    file,
    z.object({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
  ]),
  title: z.string().nullish(),
  context: z.string().nullish(),
})
export const SearchResultBlock = z.strictObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(TextBlock),
  citations: z.object({ enabled: z.boolean() }).default({ enabled: false }),
})

/** What a person's message may hold. contract.md 2.4 */
export const UserContent = z.discriminatedUnion('type', [TextBlock, ImageBlock, DocumentBlock])
export type UserContent = z.infer<typeof UserContent>

/** What a tool's result may hold. */
export const ResultContent = z.discriminatedUnion('type', [
  TextBlock,
  ImageBlock,
  DocumentBlock,
  SearchResultBlock,
])
export type ResultContent = z.infer<typeof ResultContent>
