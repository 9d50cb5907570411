/**
 * Bounds the answers of untrusted endpoints. Every part of an answer has a limit. The library gets whole events, so
 * that its cost does not depend on how the network cut them.
 */

/** Bytes are counted after decompression. */
export type AnswerLimits = typeof answerLimits
export const answerLimits = {
  /** Bytes of an error's body; the rest is cut off. */
  errorBytes: 64 * 1024,
  errorMs: 10_000,
  eventBytes: 2 * 1024 * 1024,
  eventLines: 128,
  /** Brackets and commas outside of texts in one event, because each may become a value. */
  eventMarks: 250_000,
  answerBytes: 128 * 1024 * 1024,
}

/** The body is no answer of a model, or exceeds a limit. */
export class RefusedAnswer extends Error {
  override readonly name = 'RefusedAnswer'
  /** True when another attempt may succeed, because a proxy before the endpoint answered in its place. */
  readonly mayPass: boolean
  constructor(message: string, { mayPass = false } = {}) {
    super(message)
    this.mayPass = mayPass
  }
}

/** What the events of an answer go through on their way to the library. */
export type AnswerPassage = {
  /** Rewrites a group of whole events. */
  fit: (group: Uint8Array) => Uint8Array[]
  /** Resolves when the library's reader has taken what was given. */
  ready: () => Promise<void>
  /** Called when events or comments have come whole. */
  alive: () => void
}

const openPassage: AnswerPassage = {
  fit: (group) => [group],
  ready: async () => {},
  alive: () => {},
}

/** `refused` is called with the reason when the body is given up while it is read. */
export async function boundedAnswer(
  response: Response,
  {
    refused = () => {},
    limits = answerLimits,
    passage = openPassage,
  }: {
    refused?: (error: RefusedAnswer) => void
    limits?: AnswerLimits
    passage?: AnswerPassage
  } = {},
): Promise<Response> {
  const { body, status, statusText, headers, ok } = response
  const wrong = unfit(response)
  if (wrong !== undefined) {
    await body?.cancel()
    throw wrong
  }
  if (body === null) return response
  const head = { status, statusText, headers }
  if (ok) return new Response(eventsOf(body, limits, refused, passage), head)
  const begun = await beginning(body, limits)
  // JSON that was cut is invalid, and the library would then lose the status.
  return begun.length < limits.errorBytes
    ? new Response(begun, head)
    : new Response(begun, { status, statusText, headers: { 'content-type': 'text/plain' } })
}

const longestOrigin = 300

/** The reason why this response cannot be a model's answer, whatever its body is; undefined when it can be one. */
function unfit({ status, ok, headers, url }: Response): RefusedAnswer | undefined {
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null) {
    const to = (URL.parse(location, url)?.origin ?? 'no URL').slice(0, longestOrigin)
    return new RefusedAnswer(
      `The endpoint answered with a redirect (${status}) to ${to}, which is not followed: base_url must be the address it leads to`,
    )
  }
  const isPage = /^\s*(text\/html|application\/xhtml)/i.test(headers.get('content-type') ?? '')
  if (!ok || !isPage) return undefined
  return new RefusedAnswer(
    'The endpoint answered with a page (text/html) and not as a model does: it is busy, or base_url is wrong',
    { mayPass: true },
  )
}

/** The part of the body that arrives within the time. */
async function beginning(
  body: ReadableStream<Uint8Array>,
  { errorBytes, errorMs }: AnswerLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  const held = growingBytes()
  const late = setTimeout(() => void reader.cancel().catch(() => {}), errorMs)
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      held.add(read.value.subarray(0, errorBytes - held.size()))
      if (held.size() >= errorBytes) break
    }
  } finally {
    clearTimeout(late)
    await reader.cancel().catch(() => {})
  }
  return held.take()
}

function eventsOf(
  body: ReadableStream<Uint8Array>,
  limits: AnswerLimits,
  refused: (error: RefusedAnswer) => void,
  passage: AnswerPassage,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const events = eventSplitter(limits)
  /** Bytes that were given since the library's reader was known to be ready. */
  let given = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (let isFed = false; !isFed;) {
            if (given >= groupBytes) {
              await passage.ready()
              given = 0
            }
            const { done, value } = await reader.read()
            const whole = done ? [events.rest()] : events.split(value)
            if (whole.length > 0) passage.alive()
            const fitted = whole.flatMap(passage.fit).filter(({ length }) => length > 0)
            for (const each of fitted) controller.enqueue(each)
            if (done) return controller.close()
            for (const each of whole) given += each.length
            isFed = fitted.length > 0
          }
        } catch (error) {
          controller.error(error)
          if (!(error instanceof RefusedAnswer)) return
          refused(error)
          await reader.cancel(error).catch(() => {})
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Events are grouped up to this size, because one library searches its whole input at each line. */
const groupBytes = 16 * 1024

const [lineFeed, carriageReturn, quote, backslash] = [10, 13, 34, 92]
const isMark = (byte: number): boolean => byte === 44 || byte === 91 || byte === 123

/** Regroups bytes into pieces that end with an event. Throws `RefusedAnswer` at a limit. */
export function eventSplitter(limits: AnswerLimits) {
  const held = growingBytes()
  let total = 0
  /** Counts of the current event. */
  let [bytes, lines, marks] = [0, 0, 0]
  /** Counts of the current line. */
  let [length, isText, isEscaped] = [0, false, false]
  let afterReturn = false

  function measure(): void {
    if (bytes > limits.eventBytes)
      throw new RefusedAnswer(`The endpoint sent an event of more than ${limits.eventBytes} bytes`)
    if (lines > limits.eventLines)
      throw new RefusedAnswer(`The endpoint sent an event of more than ${limits.eventLines} lines`)
    if (marks > limits.eventMarks)
      throw new RefusedAnswer(`The endpoint sent an event of more than ${limits.eventMarks} values`)
  }

  function end(): void {
    measure()
    ;[bytes, lines, marks] = [0, 0, 0]
  }

  /** True when the event ends with this line, because the line is blank. */
  function endLine(): boolean {
    const isBlank = length === 0
    lines++
    ;[length, isText, isEscaped] = [0, false, false]
    if (isBlank) end()
    return isBlank
  }

  function readInLine(byte: number): void {
    length++
    if (isEscaped) isEscaped = false
    else if (byte === quote) isText = !isText
    else if (isText) isEscaped = byte === backslash
    else if (isMark(byte)) marks++
  }

  /** True when an event ends at this byte. */
  function read(byte: number): boolean {
    bytes++
    const isPaired = afterReturn && byte === lineFeed
    afterReturn = byte === carriageReturn
    // The second half of a line end, which may also end the event.
    if (isPaired) return bytes === 1 && endLine()
    if (byte === lineFeed || byte === carriageReturn) return endLine()
    readInLine(byte)
    return false
  }

  return {
    split(piece: Uint8Array): Uint8Array[] {
      total += piece.length
      if (total > limits.answerBytes)
        throw new RefusedAnswer(`The endpoint sent more than ${limits.answerBytes} bytes`)
      const whole: Uint8Array[] = []
      let [from, to] = [0, 0]
      const give = (): void => {
        whole.push(held.size() > 0 ? held.take(piece.subarray(from, to)) : piece.subarray(from, to))
        from = to
      }
      for (let index = 0; index < piece.length; index++) {
        if (!read(piece[index] ?? 0)) continue
        to = index + 1
        if (to - from >= groupBytes) give()
      }
      measure()
      if (to > from) give()
      held.add(piece.subarray(from))
      return whole
    },
    rest: () => held.take(),
  }
}

/** A buffer that grows, so that many small pieces cost no more than their bytes. */
function growingBytes() {
  let memory = new Uint8Array(0)
  let size = 0
  function add(piece: Uint8Array): void {
    if (size + piece.length > memory.length) {
      const larger = new Uint8Array(Math.max(1_024, 2 * memory.length, size + piece.length))
      larger.set(memory.subarray(0, size))
      memory = larger
    }
    memory.set(piece, size)
    size += piece.length
  }
  return {
    size: () => size,
    add,
    take(last: Uint8Array = new Uint8Array(0)): Uint8Array<ArrayBuffer> {
      add(last)
      const whole = memory.subarray(0, size)
      memory = new Uint8Array(0)
      size = 0
      return whole
    },
  }
}
