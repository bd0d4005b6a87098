// The sound of a disc: a short click, made here, so that it needs no file.

import { settings } from "./settings.js";

/** Seconds. */
const LENGTH = 0.06;
const LOUDNESS = 0.25;

/** @type {?AudioContext} */
let audio = null;

/** Clicks, if sound is on. A device without sound is no error. */
export function click() {
  if (settings.sound !== "on") return;
  try {
    audio ??= new AudioContext();
    const begin = audio.currentTime;
    const [tone, volume] = [audio.createOscillator(), audio.createGain()];
    tone.frequency.setValueAtTime(1400, begin);
    tone.frequency.exponentialRampToValueAtTime(300, begin + LENGTH);
    volume.gain.setValueAtTime(LOUDNESS, begin);
    volume.gain.exponentialRampToValueAtTime(0.001, begin + LENGTH);
    tone.connect(volume).connect(audio.destination);
    tone.start(begin);
    tone.stop(begin + LENGTH);
  } catch { /* the move is seen anyway */ }
}
