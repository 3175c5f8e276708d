// Loaded before a program of ours (`--import`): its clock, in every thread, is ahead by the milliseconds in the file
// CLOCK_OFFSET_FILE, which may change at any time. Timers stay as they are.
import { readFileSync } from 'node:fs';

const LOOK_MS = 50;
const RealDate = Date;
let offset = 0;

function look() {
  try {
    offset = Number(readFileSync(process.env.CLOCK_OFFSET_FILE ?? '', 'utf8'));
  } catch {
    // No file: the real time.
  }
}
look();
setInterval(look, LOOK_MS).unref();

globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + offset);
    else super(...given);
  }

  static now() {
    return RealDate.now() + offset;
  }
};
