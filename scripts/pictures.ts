/** Takes the pictures of the documentation anew, after a change of what the console looks like. */
import { takePictures } from '../conformance/console/pictures.ts'
import { root } from './house/sources.ts'

await takePictures(`${root}docs/pictures`)
