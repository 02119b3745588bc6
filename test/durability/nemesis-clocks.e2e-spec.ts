import { CI_ROUNDS } from './nemesis/rounds.js';
import { nemesisSuite } from './nemesis/suite.js';

nemesisSuite(CI_ROUNDS.clocks.fleet, CI_ROUNDS.clocks.rounds);
