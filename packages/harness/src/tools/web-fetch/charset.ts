/** Decodes the text of a page in the encoding that the page declares. */

const marks: [string, number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]
/** Bytes at the beginning of a page that may declare its encoding. */
const headBytes = 1024

export function decodeText(bytes: Uint8Array, contentType: string): string {
  const mark = marks.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0]
  const given = /charset\s*=\s*["']?([\w.:-]+)/i
  const head = Buffer.from(bytes.subarray(0, headBytes)).toString('latin1')
  const named = mark ?? given.exec(contentType)?.[1] ?? inHead(head)
  return decoderOf(named ?? 'utf-8').decode(bytes)
}

const inHead = (head: string): string | undefined =>
  /<meta[^>]*charset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1] ??
  /^<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)/i.exec(head)?.[1]

function decoderOf(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label)
  } catch {
    // An unknown encoding is most likely UTF-8.
    return new TextDecoder()
  }
}
