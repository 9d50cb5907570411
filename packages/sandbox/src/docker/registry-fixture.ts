/** For tests: a registry on loopback with an image of one file, and further images. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'

const types = {
  manifest: 'application/vnd.docker.distribution.manifest.v2+json',
  config: 'application/vnd.docker.container.image.v1+json',
  layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
}
const digestOf = (bytes: Buffer): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** A tar archive with one regular file at the root. */
function archive(name: string, text: string): Buffer {
  const header = Buffer.alloc(512)
  const put = (at: number, value: string) => void header.write(value, at, 'latin1')
  put(0, name)
  put(100, '0000644\0')
  put(108, '0000000\0')
  put(116, '0000000\0')
  put(124, `${text.length.toString(8).padStart(11, '0')}\0`)
  put(136, '00000000000\0')
  put(148, '        ')
  put(156, '0')
  put(257, 'ustar\x0000')
  const sum = header.reduce((all, byte) => all + byte, 0)
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `)
  const body = Buffer.alloc(512 * Math.ceil(text.length / 512))
  body.write(text)
  return Buffer.concat([header, body, Buffer.alloc(1024)])
}

function image(architecture: string) {
  const tar = archive('only-file', 'and no bash')
  const layer = gzipSync(tar)
  const config = Buffer.from(
    JSON.stringify({
      architecture,
      os: 'linux',
      config: {},
      rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
    }),
  )
  const described = (mediaType: string, bytes: Buffer) => ({
    ...{ mediaType, size: bytes.length, digest: digestOf(bytes) },
  })
  const manifest = Buffer.from(
    JSON.stringify({
      ...{ schemaVersion: 2, mediaType: types.manifest },
      config: described(types.config, config),
      layers: [described(types.layer, layer)],
    }),
  )
  return { manifest, blobs: [config, layer] }
}

const own = process.arch === 'x64' ? 'amd64' : 'arm64'
const images = { bare: image(own), foreign: image(own === 'amd64' ? 'arm64' : 'amd64') }

/** `asked`: the path of each request. */
export async function startRegistry() {
  const asked: string[] = []
  const manifests = new Map(
    Object.entries(images).flatMap(([name, { manifest }]) =>
      ['latest', digestOf(manifest)].map((tag) => [`/v2/${name}/manifests/${tag}`, manifest]),
    ),
  )
  const blobs = new Map(
    Object.entries(images).flatMap(([name, each]) =>
      each.blobs.map((blob) => [`/v2/${name}/blobs/${digestOf(blob)}`, blob]),
    ),
  )
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    if (path === '/v2/') return void response.end('{}')
    const manifest = manifests.get(path)
    const bytes = manifest ?? blobs.get(path)
    if (bytes === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' })
      return void response.end(
        '{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}',
      )
    }
    response.writeHead(200, {
      'content-length': bytes.length,
      'docker-content-digest': digestOf(bytes),
      'content-type': manifest ? types.manifest : 'application/octet-stream',
    })
    response.end(request.method === 'HEAD' ? undefined : bytes)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const at = server.address()
  if (at === null || typeof at === 'string') throw new Error('a server without a port')
  return {
    address: `127.0.0.1:${at.port}`,
    asked,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
