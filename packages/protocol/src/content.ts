import { z } from 'zod'

const mediaType = z.string().max(256)
/** Base64 can be many megabytes long: the pattern runs once and nothing is decoded. */
const Base64 = z
  .string()
  .refine((data) => data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data), 'must be base64')
  .meta({ contentEncoding: 'base64' })
const base64 = z
  .object({
    type: z.literal('base64'),
    media_type: mediaType.describe('The type of the bytes, such as `image/png`.'),
    data: Base64,
  })
  .meta({ id: 'Base64Source', description: 'The bytes, as base64.' })
const url = z
  .object({
    type: z.literal('url'),
    url: z.url().max(8_192).describe('The address, which is fetched when the message is read.'),
  })
  .meta({ id: 'URLSource', description: 'A public address that the service fetches.' })
const file = z
  .object({ type: z.literal('file'), file_id: z.string().max(256) })
  .meta({ id: 'FileSource', description: 'A file of the workspace.' })

export const TextBlock = z
  .strictObject({ type: z.literal('text'), text: z.string() })
  .meta({ id: 'TextBlock', description: 'Text.' })
export const ImageBlock = z
  .strictObject({
    type: z.literal('image'),
    source: z.discriminatedUnion('type', [base64, url, file]),
  })
  .meta({ id: 'ImageBlock', description: 'An image: PNG, JPEG, GIF or WebP.' })
export const DocumentBlock = z
  .strictObject({
    type: z.literal('document'),
    source: z.discriminatedUnion('type', [
      base64,
      url,
      file,
      z
        .object({
          type: z.literal('text'),
          media_type: z.literal('text/plain'),
          data: z.string(),
        })
        .meta({ id: 'PlainTextDocumentSource', description: 'The text itself.' }),
    ]),
    title: z.string().nullish(),
    context: z.string().nullish().describe('What the model should know about the document.'),
  })
  .meta({ id: 'DocumentBlock', description: 'A document: PDF or plain text.' })
export const SearchResultBlock = z
  .strictObject({
    type: z.literal('search_result'),
    source: z.string().describe('Where the text was found.'),
    title: z.string(),
    content: z.array(TextBlock).describe('The text that was found.'),
    citations: z
      .object({ enabled: z.boolean().describe('True: the model may cite the text.') })
      .default({ enabled: false })
      .describe('Whether the model may cite the text.'),
  })
  .meta({ id: 'SearchResultBlock', description: 'Text that a search found.' })

/** A block of a person's message. [events/post/user-message] */
export const UserContent = z.discriminatedUnion('type', [TextBlock, ImageBlock, DocumentBlock])
export type UserContent = z.infer<typeof UserContent>

/** A block of a tool's result. */
export const ResultContent = z.discriminatedUnion('type', [
  TextBlock,
  ImageBlock,
  DocumentBlock,
  SearchResultBlock,
])
export type ResultContent = z.infer<typeof ResultContent>

/**
 * Characters of text in one request. Images and documents in base64 are not counted: the limit of the body holds for
 * them. Text is limited further because each text is read, written and escaped several times on its way to a model.
 */
export const mostText = 4 * 1024 * 1024

/** Characters of the text of a message or a result. */
export const textLength = (content: readonly (UserContent | ResultContent)[]): number =>
  content.reduce((sum, block) => sum + lengthOf(block), 0)

function lengthOf(block: UserContent | ResultContent): number {
  switch (block.type) {
    case 'text':
      return block.text.length
    case 'image':
      return 0
    case 'document': {
      const { source, title, context } = block
      const own = source.type === 'text' ? source.data.length : 0
      return own + (title?.length ?? 0) + (context?.length ?? 0)
    }
    case 'search_result':
      return block.source.length + block.title.length + textLength(block.content)
  }
}

/** Adds up the texts of a request. The message or result that exceeds the limit gets the error. */
export function checkText(
  events: readonly { content?: readonly (UserContent | ResultContent)[] | null | undefined }[],
  context: z.RefinementCtx,
): void {
  let sum = 0
  for (const [index, { content }] of events.entries()) {
    const before = sum
    sum += textLength(content ?? [])
    if (before > mostText || sum <= mostText) continue
    context.addIssue({ code: 'custom', path: [index, 'content'], message: tooMuchText })
  }
}

export const tooMuchText = `more than ${mostText} characters of text in one request: upload long text as a file`
