/** Inputs that a client sends into a session. */
import { z } from 'zod'
import { checkText, mostText } from '../content.ts'
import type { UserContent } from '../content.ts'
import { Id } from '../primitives.ts'
import { ofUnknownType, quoteValue } from '../problems.ts'
import { refused, unsupportedField } from './lists.ts'

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/]*={0,2})$/

const InputText = z
  .strictObject({ type: z.literal('input_text'), text: z.string() })
  .meta({ id: 'OpenAIInputText', description: 'Text.' })
const InputImage = z
  .strictObject({
    type: z.literal('input_image'),
    image_url: z
      .string()
      .refine(
        (url) =>
          dataUrl.test(url) ||
          (url.length <= 8192 && /^https?:\/\//.test(url) && URL.canParse(url)),
        'must be an address of the web or a data URL in base64',
      )
      .describe('A public address, or a data URL in base64.'),
  })
  .meta({ id: 'OpenAIInputImage', description: 'An image: PNG, JPEG, GIF or WebP.' })
const OpenAIInputContent = z.discriminatedUnion('type', [InputText, InputImage])
type OpenAIInputContent = z.infer<typeof OpenAIInputContent>

export const OpenAIMessage = z
  .strictObject({
    type: z.literal('message').optional(),
    role: z.literal('user', unsupportedField('a client writes messages of the user alone')),
    content: z.array(OpenAIInputContent).min(1).describe('Texts and images, in order.'),
  })
  .meta({ id: 'OpenAIInputMessageParams', description: 'A message of the user.' })

const contentOf = (content: readonly OpenAIInputContent[]): UserContent[] =>
  content.map((part) => {
    if (part.type === 'input_text') return { type: 'text', text: part.text }
    const [, media_type, data] = dataUrl.exec(part.image_url) ?? []
    return media_type === undefined || data === undefined
      ? { type: 'image', source: { type: 'url', url: part.image_url } }
      : { type: 'image', source: { type: 'base64', media_type, data } }
  })

/** Each message as an event of the log. */
export const toUserMessages = (
  messages: readonly z.infer<typeof OpenAIMessage>[],
): { type: 'user.message'; content: UserContent[] }[] =>
  messages.map(({ content }) => ({ type: 'user.message', content: contentOf(content) }))

export const OpenAIMessages = z
  .array(OpenAIMessage)
  .min(1)
  .max(50)
  .superRefine((messages, context) => checkText(toUserMessages(messages), context))

/** A string means one message. */
export const OpenAIInput = z.union([
  z
    .string()
    .min(1)
    .max(mostText)
    .transform((text) => [
      { role: 'user' as const, content: [{ type: 'input_text' as const, text }] },
    ]),
  OpenAIMessages,
])

const Output = z.union([z.string(), z.array(OpenAIInputContent)])

/** The content of a tool's result. */
export const toResultContent = (
  output: z.infer<typeof Output> | null | undefined,
): UserContent[] => {
  if (output === null || output === undefined || output === '') return []
  return typeof output === 'string' ? [{ type: 'text', text: output }] : contentOf(output)
}

const MessageInput = z
  .strictObject({
    type: z.literal('agent.session.input.message'),
    input: OpenAIMessages.describe('Messages of the user, in order.'),
  })
  .meta({
    id: 'OpenAIMessageInput',
    description: 'Messages: they begin a turn, or wait for the end of one.',
  })
const CancelInput = z
  .strictObject({ type: z.literal('agent.session.input.cancel') })
  .meta({ id: 'OpenAICancelInput', description: 'Stops the running turn.' })
const ToolResultInput = z
  .strictObject({
    type: z.literal('agent.session.input.tool_result'),
    turn_id: Id.describe('The turn of the call.'),
    call_id: Id.describe('The `call_id` of the function call.'),
    success: z.boolean().describe('Whether the call has succeeded.'),
    output: Output.nullish().describe('What the model reads.'),
    error: z.string().nullish().describe('What the model reads of a call that failed.'),
  })
  .meta({ id: 'OpenAIToolResultInput', description: 'Answers a function call.' })
const ApprovalInput = z
  .strictObject({
    type: z.literal('agent.session.input.mcp_approval_request_result'),
    request_id: Id.describe('The `request_id` of the required action.'),
    response: z
      .strictObject({
        type: z.literal('mcp_tool_call'),
        decision: z
          .enum(['approve', 'deny', 'cancel'])
          .describe('`approve`: the call runs. `deny` and `cancel`: it does not.'),
      })
      .describe('What was decided.'),
  })
  .meta({ id: 'OpenAIApprovalInput', description: 'Lets a call run, or not.' })

const unknownInput = ofUnknownType((type) =>
  type === 'agent.session.input.computer_use_approval_request_result'
    ? `${quoteValue(type)} is not supported: sandboxes have no desktop`
    : `${quoteValue(type)} is no event that may be sent here`,
)

export const OpenAIInputEvent = refused(
  z.discriminatedUnion(
    'type',
    [MessageInput, CancelInput, ToolResultInput, ApprovalInput],
    unknownInput,
  ),
  'approvals of computer use',
)
export type OpenAIInputEvent = z.infer<typeof OpenAIInputEvent>

export const OpenAIEventsCreate = z
  .strictObject({
    events: z
      .array(OpenAIInputEvent)
      .min(1)
      .max(100)
      .describe('Applied in order, all of them or none.'),
  })
  .meta({
    id: 'OpenAIEventsCreateParams',
    examples: [
      {
        events: [
          {
            type: 'agent.session.input.message',
            input: [{ role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] }],
          },
        ],
      },
    ],
  })
