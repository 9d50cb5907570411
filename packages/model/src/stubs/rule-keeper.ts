/** For tests: what each provider has published about the bodies that it takes. Returns the rules that a body breaks. */
import { imageKind } from '../wire/image-kind.ts'
import { isRecord, toRecords, toText } from '../wire/fit/loose.ts'
import type { ModelWire } from '../spec.ts'

type Body = Record<string, unknown>

export function brokenRules(wire: ModelWire, body: Body): string[] {
  const broken: string[] = []
  const rule = (holds: boolean, what: string) => void (holds || broken.push(what))
  everyText(body, (text) => rule(text.isWellFormed(), 'texts hold whole characters'))
  rules[wire](body, rule)
  return broken
}

type Rule = (holds: boolean, what: string) => void

const isSaid = (text: unknown): boolean => typeof text === 'string' && text.trim() !== ''

const rules: Record<ModelWire, (body: Body, rule: Rule) => void> = {
  'anthropic-messages': (body, rule) => {
    const ids = new Set<string>()
    let open: string[] = []
    const messages = toRecords(body.messages)
    rule(messages[0]?.role === 'user', 'a conversation begins with the user')
    for (const { role, content } of messages) {
      const blocks = toRecords(content)
      rule(blocks.length > 0 || isSaid(content), 'a message has content')
      const results = blocks.filter(({ type }) => type === 'tool_result')
      rule(
        open.join() === results.map((each) => toText(each.tool_use_id)).join(),
        'each call has one result in the next message',
      )
      rule(
        blocks.slice(0, results.length).every(({ type }) => type === 'tool_result'),
        'results come first',
      )
      open = []
      for (const block of [...blocks, ...results.flatMap((each) => toRecords(each.content))]) {
        if (block.type === 'text') rule(isSaid(block.text), 'a text is not blank')
        if (block.type === 'image') rule(isImage(block.source), 'an image is of its kind')
        if (block.type !== 'tool_use') continue
        const id = toText(block.id)
        rule(role === 'assistant' && /^[a-zA-Z0-9_-]+$/.test(id), 'an id is plain')
        rule(!ids.has(id), 'an id is given once')
        rule(/^[a-zA-Z0-9_-]{1,128}$/.test(toText(block.name)), 'a name is plain')
        rule(isRecord(block.input), 'an input is an object')
        ids.add(id)
        open.push(id)
      }
      for (const each of results)
        rule(Array.isArray(each.content) || isSaid(each.content), 'a result is not blank')
    }
    rule(open.length === 0, 'the last call has a result')
  },

  'openai-completions': (body, rule) => {
    const ids = new Set<string>()
    const open: string[] = []
    for (const message of toRecords(body.messages)) {
      const { role, content } = message
      if (role === 'tool') {
        rule(open.shift() === message.tool_call_id, 'results follow their calls in order')
        rule(isSaid(content), 'a result is not blank')
        continue
      }
      rule(open.length === 0, 'each call has a result')
      const calls = toRecords(message.tool_calls)
      rule(
        isSaid(content) || toRecords(content).length > 0 || calls.length > 0,
        'a message has content',
      )
      for (const part of toRecords(content)) {
        if (part.type === 'text') rule(isSaid(part.text), 'a text is not blank')
        if (part.type === 'image_url' && isRecord(part.image_url))
          rule(isDataUrl(part.image_url.url), 'an image is of its kind')
      }
      for (const call of calls) {
        const id = toText(call.id)
        rule(id !== '' && !ids.has(id), 'an id is given once')
        ids.add(id)
        open.push(id)
        const said = isRecord(call.function) ? call.function : {}
        rule(/^[a-zA-Z0-9_-]{1,64}$/.test(toText(said.name)), 'a name is plain')
        rule(isObjectText(said.arguments), 'arguments are an object in a text')
      }
    }
    rule(open.length === 0, 'the last call has a result')
  },

  'openai-responses': (body, rule) => {
    const open = new Set<string>()
    const ids = new Set<string>()
    const parts = (content: unknown) => {
      for (const part of toRecords(content)) {
        if (toText(part.type).endsWith('text')) rule(isSaid(part.text), 'a text is not blank')
        if (part.type === 'input_image') rule(isDataUrl(part.image_url), 'an image is of its kind')
      }
    }
    for (const item of toRecords(body.input)) {
      const id = toText(item.call_id)
      if (item.type === 'function_call') {
        rule(id !== '' && id.length <= 64 && !ids.has(id), 'an id is given once')
        rule(/^[a-zA-Z0-9_-]{1,64}$/.test(toText(item.name)), 'a name is plain')
        rule(isObjectText(item.arguments), 'arguments are an object in a text')
        ids.add(id)
        open.add(id)
      } else if (item.type === 'function_call_output') {
        rule(open.delete(id), 'a result follows its call')
        rule(isSaid(item.output) || toRecords(item.output).length > 0, 'a result is not blank')
        parts(item.output)
        // An answer is sent back as the provider gave it.
      } else if (item.role !== 'assistant') parts(item.content)
    }
    rule(open.size === 0, 'each call has a result')
  },

  'google-generative-ai': (body, rule) => {
    let calls = 0
    for (const { role, parts } of toRecords(body.contents)) {
      const all = toRecords(parts)
      rule(all.length > 0, 'a turn has parts')
      const answered = all.filter((part) => part.functionResponse !== undefined)
      if (calls > 0)
        rule(
          answered.length === calls && answered.length === all.length,
          'each call has a response',
        )
      else rule(answered.length === 0, 'a response follows its call')
      calls = 0
      for (const part of all) {
        if ('text' in part && part.thought !== true) rule(isSaid(part.text), 'a text is not blank')
        if (isRecord(part.inlineData) && toText(part.inlineData.mimeType).startsWith('image'))
          rule(
            imageKind(toText(part.inlineData.data)) === part.inlineData.mimeType,
            'an image is of its kind',
          )
        if (!isRecord(part.functionCall)) continue
        calls++
        rule(role === 'model', 'the model calls')
        rule(
          /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/.test(toText(part.functionCall.name)),
          'a name is plain',
        )
        rule(isRecord(part.functionCall.args), 'arguments are an object')
      }
    }
    rule(calls === 0, 'the last call has a response')
  },
}

const isImage = (source: unknown): boolean =>
  isRecord(source) && imageKind(toText(source.data)) === source.media_type

function isDataUrl(url: unknown): boolean {
  const [, type, data = ''] = /^data:([^;]*);base64,([^]*)$/.exec(toText(url)) ?? []
  return type !== undefined && imageKind(data) === type
}

function isObjectText(text: unknown): boolean {
  try {
    return isRecord(JSON.parse(toText(text)))
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

function everyText(value: unknown, check: (text: string) => void): void {
  if (typeof value === 'string') check(value)
  else if (Array.isArray(value)) for (const each of value) everyText(each, check)
  else if (isRecord(value))
    for (const [name, each] of Object.entries(value)) {
      check(name)
      everyText(each, check)
    }
}
