/** For tests: archives that no archiver would write. */
import { crc32, deflateRawSync } from 'node:zlib'

export type OddEntry = {
  name: string
  bytes?: Uint8Array | string
  /** Unix mode, with the type of the file. */
  mode?: number
  method?: number
  flags?: number
  /** Wrong values that the archive claims. */
  says?: { size?: number; crc?: number }
}

const madeByUnix = (3 << 8) | 20

export function oddZip(entries: readonly OddEntry[]): Buffer {
  const chunks: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const entry of entries) {
    const { name, mode = 0o100644, method = 8, flags = 0x800, says = {} } = entry
    const bytes = Buffer.from(entry.bytes ?? '')
    const packed = method === 8 ? deflateRawSync(bytes) : bytes
    const path = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(says.crc ?? crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(says.size ?? bytes.length, 18)
    common.writeUInt16LE(path.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, path, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE((mode << 16) >>> 0, 6)
    rest.writeUInt32LE(at, 10)
    const madeBy = Buffer.from([madeByUnix & 0xff, madeByUnix >> 8])
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), madeBy, common, rest, path]))
    chunks.push(local)
    at += local.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length & 0xffff, 8)
  end.writeUInt16LE(entries.length & 0xffff, 10)
  end.writeUInt32LE(
    directory.reduce((sum, each) => sum + each.length, 0),
    12,
  )
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...chunks, ...directory, end])
}

export const skillText = (name: string, body = '# It\n', description = 'what it is for'): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}`
