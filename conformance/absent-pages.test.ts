import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { boot } from './service.ts'

void describe('a server that a browser asks', () => {
  void it('answers an unknown path with a page, and a program with an error that names the route', async () => {
    const service = await boot('sqlite')
    try {
      const get = (path: string, accept: string) =>
        fetch(service.base + path, { headers: { accept } })
      const page = await get('/nope', 'text/html')
      assert.equal(page.status, 404)
      assert.match(await page.text(), /<a href="\/signin">/)
      assert.match(await (await get('/nope', '*/*')).text(), /there is no GET \/nope/)
      assert.match(await (await get('/v1/nope', 'text/html')).text(), /there is no GET/)
    } finally {
      await service.close()
    }
  })

  void it('compresses its answers if the browser takes that', async () => {
    const service = await boot('sqlite')
    try {
      const lengthOf = ({ headers }: Response) => Number(headers.get('content-length'))
      const paths = ['/docs/swagger-ui-bundle.js', '/openapi.json', '/openai/v1/openapi.json']
      for (const path of paths) {
        const url = service.base + path
        const packed = await fetch(url)
        const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
        assert.deepEqual(
          [packed, plain].map(({ headers }) => headers.get('content-encoding')),
          ['gzip', null],
          path,
        )
        assert.ok(lengthOf(packed) * 2 < lengthOf(plain), path)
        assert.equal(await packed.text(), await plain.text(), path)
      }
    } finally {
      await service.close()
    }
  })
})
