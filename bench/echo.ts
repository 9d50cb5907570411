/** The smallest possible server of Node. It shows the cost of a request without any code of the service. */
import { createServer } from 'node:http'

const body = Buffer.from('{"type":"echo"}')
const server = createServer((_request, response) => {
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', body.length])
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' && address ? address.port : 0)
})
process.on('disconnect', () => process.exit(0))
