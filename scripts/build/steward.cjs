#!/usr/bin/env node
// The command of the package. Old versions of Node can read this file, and only this one.
'use strict'
var major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  process.stderr.write(
    'steward: Node 24 or newer is needed, and this is ' +
      process.version +
      ': install it from https://nodejs.org, or with your package manager.\n',
  )
  process.exit(1)
}
var path = require('node:path')
var url = require('node:url')
var isWorker = process.argv[2] === 'worker'
var program = path.join(__dirname, '../code', isWorker ? 'worker.mjs' : 'server.mjs')
// A program that starts itself anew, among users of its own, is found by this.
if (isWorker) process.argv.splice(1, 2, program)
// A stack names the source.
process.setSourceMapsEnabled(true)
import(url.pathToFileURL(program).href)
