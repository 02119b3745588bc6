import { CI_ROUNDS } from './nemesis/rounds.js';
import { nemesisSuite } from './nemesis/suite.js';

nemesisSuite(CI_ROUNDS.outside.fleet, CI_ROUNDS.outside.rounds);
