/** Server-sent events, in whole groups: read loosely, written in one form. */

export type SentEvent = { name: string | undefined; data: string[] }

/**
 * The events of a text that ends with an event. Comments and unknown fields are dropped. JSON that stands bare counts as
 * data.
 */
export function readEvents(text: string): SentEvent[] {
  const events: SentEvent[] = []
  let event: SentEvent = { name: undefined, data: [] }
  let isBare = false
  const finish = () => {
    if (event.data.length > 0) events.push(event)
    event = { name: undefined, data: [] }
    isBare = false
  }
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '') finish()
    else if (line.startsWith('data:')) event.data.push(valueIn(line, 5))
    else if (line.startsWith('event:')) event.name = valueIn(line, 6)
    else if (isBare || /^[{[]/.test(line)) {
      isBare = true
      event.data.push(line)
    }
  }
  finish()
  return events
}

const valueIn = (line: string, from: number): string =>
  line.slice(line.charCodeAt(from) === 32 ? from + 1 : from)

export function writeEvent(data: string, name?: string): string {
  const lines = data.replaceAll('\n', '\ndata: ')
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${lines}\n\n`
}
